-- Waits until the owner's events that are being published are committed, and holds up further ones until the
-- transaction ends; returns the id of the last event.
create or replace function hold_events(of_owner text, of_mode text) returns text language plpgsql as $$
begin
  perform pg_advisory_xact_lock(publishing_lock(of_owner));
  return coalesce((select e.id from events e where (e.owner_id, e.mode) = (of_owner, of_mode)
    order by e.id desc limit 1), '');
end $$;
