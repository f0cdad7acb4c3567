-- Makes a delivery of each event for every subscription that wants it, in the transaction of the event; returns how many.
-- A ping goes to the subscription that it names, and to no other.
create or replace function publish_events(written jsonb, owners text[]) returns integer
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  made integer;
begin
  -- Most owners have no subscription: for them this is all.
  if not exists (select from webhooks w
    where w.owner_id = any(owners) and w.status = 'active' and w.deleted_at is null) then
    return 0;
  end if;
  perform pg_advisory_xact_lock_shared(publishing_lock(one.owner))
  from (select owner from unnest(owners) as owner order by owner) as one;
  insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
    claims, tries, attempts)
  select 'delivery_' || substr(e.id, 7, 10) || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
    w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, e.id, e.event, 'pending', clock_timestamp(),
    0, 0, '[]'
  from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
  join webhooks w on w.owner_id = e."ownerId" and w.mode = e.mode and w.status = 'active' and w.deleted_at is null
  where case e.event when 'webhook.ping' then e.data ->> 'webhookId' = w.id
    else w.events && array['*', e.event] end
    and (w.backlog_after is null or e.id <= w.backlog_after);
  get diagnostics made = row_count;
  return made;
end $$;
