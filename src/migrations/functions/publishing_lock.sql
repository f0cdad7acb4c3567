-- The key of an owner's publishing lock. Publishers share it until they commit; whoever moves the event up to which a
-- subscription has deliveries holds it alone. So that event divides all events without a gap.
create or replace function publishing_lock(of_owner text) returns bigint language sql immutable as $$
  select hashtextextended('publishing|' || of_owner, 0)
$$;
