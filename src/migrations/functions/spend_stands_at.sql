-- Whether the sums stand where what is not in them yet was read from. A read of one instant finds them there. Whoever reads
-- in a transaction that sees what is committed meanwhile begins again, as after any other race.
create or replace function spend_stands_at(place text) returns boolean stable language plpgsql as $$
begin
  if place is distinct from (select written_in || ' ' || event_id || ' ' || refund_id from spend_position) then
    raise serialization_failure using message = 'the sums were moved on while they were read';
  end if;
  return true;
end $$;
