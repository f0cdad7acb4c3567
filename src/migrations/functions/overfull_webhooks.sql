-- Subscriptions for which more deliveries wait than they have room for, and which are not paused yet. A walk from one to
-- the next by the index.
create or replace function overfull_webhooks(limits jsonb) returns table (id text, owner_id text, mode text)
language plpgsql rows 20 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return query
  with recursive waiting as (
    (select d.webhook_id from deliveries d where d.status = 'pending' order by d.webhook_id, d.due_at limit 1)
    union all
    select next.webhook_id from waiting cross join lateral (
      select d.webhook_id from deliveries d where d.status = 'pending' and d.webhook_id > waiting.webhook_id
      order by d.webhook_id, d.due_at limit 1
    ) next
  )
  select w.id, w.owner_id, w.mode from waiting
  cross join lateral (select * from webhooks one where one.id = waiting.webhook_id limit 1) w
  where w.status = 'active' and w.deleted_at is null and w.backlog_after is null
    and has_waiting(w.id, 100) and has_waiting(w.id, webhook_room(w.owner_id, w.mode, limits));
end $$;
