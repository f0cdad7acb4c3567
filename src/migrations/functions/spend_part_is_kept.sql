-- A follower of the version before knows no parts of a transaction: it would count one from its beginning again. It says
-- nothing of the part when it moves the position, and so it is refused until the whole transaction is counted.
create or replace function spend_part_is_kept() returns trigger language plpgsql as $$
begin
  raise exception 'the transaction % is counted in parts: only a version that knows of them goes on', old.written_in;
end $$;

create or replace trigger spend_position_keeps_part before update on spend_position
  for each row when ((old.event_id <> '' or old.refund_id <> 0)
    and (new.event_id, new.refund_id) = (old.event_id, old.refund_id))
  execute function spend_part_is_kept();
