-- A subscription gets the events that it wanted as they were committed, however late its deliveries are made: each change
-- of what it wants keeps what it wanted before. One that is paused begins where the journal has been read to.
create or replace function keep_webhook_version() returns trigger language plpgsql as $$
declare
  changed_in bigint := (select pg_current_xact_id()::text::bigint + added from journal_origin);
begin
  if tg_op = 'INSERT' then
    new.wanted_since := changed_in;
  elsif (new.status, new.deleted_at is null, new.events) is distinct from (old.status, old.deleted_at is null, old.events) then
    if old.wanted_since < changed_in then
      insert into webhook_versions (owner_id, mode, webhook_id, since, until, events)
      values (old.owner_id, old.mode, old.id, old.wanted_since, changed_in,
        case when old.status = 'active' and old.deleted_at is null then old.events else '{}' end);
    end if;
    new.wanted_since := changed_in;
  end if;
  if new.backlog_after is null then
    new.backlog_position := null;
  elsif new.backlog_position is null then
    new.backlog_position := (select position from delivery_position);
  end if;
  return new;
end $$;
create or replace trigger keep_webhook_version before insert or update of events, status, deleted_at, backlog_after
  on webhooks for each row execute function keep_webhook_version();
