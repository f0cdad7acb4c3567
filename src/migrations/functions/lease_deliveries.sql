-- Takes the oldest free deliveries of each subscription, as many as `counts` says, for the process that holds the lease.
-- A single statement takes and reads them: the caller's may have begun before the event was there. The rows that it has
-- just locked are found by their place. An attempt that a run makes just now has one of the places. What that attempt said of the
-- receiver is committed with its end, so one statement reads both: a receiver that it paused is given nothing.
create or replace function lease_deliveries(webhook_ids text[], counts integer[], lease interval, holder text)
returns table (id text, webhook_id text, claim integer, event_id text, event text, request_id text, body text)
language plpgsql rows 100 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return query
  with free as (
    select d.place from unnest(webhook_ids, counts) as share(webhook_id, most)
    cross join lateral (select * from webhooks one where one.id = share.webhook_id limit 1) receiver
    cross join lateral (
      select count(*) as retries from retries_under_way r
      where r.webhook_id = share.webhook_id and r.ends_by > clock_timestamp()) beside
    cross join lateral (
      select one.ctid as place from deliveries one
      where one.webhook_id = share.webhook_id and one.status = 'pending' and one.due_at <= clock_timestamp()
        and (receiver.paused_until is null or receiver.paused_until <= clock_timestamp())
        and (one.leased_until is null or one.leased_until <= clock_timestamp())
      order by one.due_at limit greatest(0, share.most - beside.retries) for update skip locked
    ) d
  ), taken as (
    update deliveries set claims = claims + 1, leased_until = clock_timestamp() + lease, leased_by = holder,
      updated_at = clock_timestamp()
    where deliveries.ctid = any(array(select free.place from free))
    returning deliveries.id, deliveries.owner_id, deliveries.mode, deliveries.webhook_id, deliveries.claims,
      deliveries.event_id
  )
  select t.id, t.webhook_id, t.claims, t.event_id, e.event, e.request_id,
    event_body(e.event, e.created_at, e.data)
  from taken t
  cross join lateral (
    select * from events one where (one.owner_id, one.mode, one.id) = (t.owner_id, t.mode, t.event_id) limit 1) e;
end $$;
