-- Whether a subscription wants one of these events, so that deliverers are notified. They make the deliveries.
create or replace function publish_events(written jsonb, owners text[]) returns integer
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  -- Most owners have no subscription: for them this is all.
  if not exists (select from webhooks w
    where w.owner_id = any(owners) and w.status = 'active' and w.deleted_at is null) then
    return 0;
  end if;
  return (select count(*) from (
    select from jsonb_to_recordset(written) as e("ownerId" text, mode text, event text)
    join webhooks w on w.owner_id = e."ownerId" and w.mode = e.mode and w.status = 'active' and w.deleted_at is null
    where e.event = 'webhook.ping' or w.events && array['*', e.event]
    limit 1) wanted);
end $$;
