-- Adds to an event what a process of the version before has written of it to audit_entries, in the same transaction.
create or replace function complete_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update events e set actor_type = new.actor_type, actor_id = new.actor_id, action = new.action, outcome = new.outcome,
    resource_id = new.resource_id, address = new.address, recorded_at = new.at, audit_id = new.id
  where (e.owner_id, e.mode, e.id) = (new.owner_id, new.mode, new.event_id) and e.action = '';
  return null;
end $$;

drop trigger if exists audit_entries_complete_events on audit_entries;
create constraint trigger audit_entries_complete_events after insert on audit_entries deferrable initially deferred
  for each row execute function complete_event();
