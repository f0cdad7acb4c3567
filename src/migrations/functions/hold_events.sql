-- Holds up the reading of the journal for deliveries until the transaction ends; returns the id of the owner's last event
-- that has been read.
create or replace function hold_events(of_owner text, of_mode text) returns text language plpgsql as $$
declare
  read_to jsonb;
begin
  select position into read_to from delivery_position for update;
  return coalesce((select e.id from events e
    where (e.owner_id, e.mode) = (of_owner, of_mode) and is_read(e.written_in, e.id, read_to)
    order by e.id desc limit 1), '');
end $$;
