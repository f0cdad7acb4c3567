-- How many deliveries may wait for each subscription of an owner: an equal share of what the plan allows, at least 100.
create or replace function webhook_room(of_owner text, of_mode text, limits jsonb) returns integer
language sql stable as $$
  select greatest(100, coalesce(limits ->> c.plan, limits ->> 'free')::int / greatest(1, (
    select count(*) from webhooks w
    where (w.owner_id, w.mode) = (of_owner, of_mode) and w.status = 'active' and w.deleted_at is null)))::int
  from customers c where c.id = of_owner
$$;
