-- The subscriptions for which something is due: one of each owner, then a second one of each, and so on; the longest
-- waiting first among these. A walk from one subscription to the next by the index, whatever PostgreSQL believes of the
-- table: a receiver for which very much waits costs one step.
create or replace function due_webhooks(most integer) returns table (id text, owner_id text, failing boolean)
language plpgsql rows 20 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return query
  with recursive waiting as (
    (select d.webhook_id, d.due_at from deliveries d where d.status = 'pending'
      order by d.webhook_id, d.due_at limit 1)
    union all
    select next.* from waiting cross join lateral (
      select d.webhook_id, d.due_at from deliveries d
      where d.status = 'pending' and d.webhook_id > waiting.webhook_id
      order by d.webhook_id, d.due_at limit 1
    ) next
  ), due as (
    select w.id, w.owner_id, w.failures > 0 as failing, waiting.due_at,
      row_number() over (partition by w.owner_id order by waiting.due_at) as turn
    from waiting
    cross join lateral (select * from webhooks one where one.id = waiting.webhook_id limit 1) w
    where w.status = 'active' and w.deleted_at is null and waiting.due_at <= clock_timestamp()
      and (w.paused_until is null or w.paused_until <= clock_timestamp())
  )
  select due.id, due.owner_id, due.failing from due order by due.turn, due.due_at limit most;
end $$;
