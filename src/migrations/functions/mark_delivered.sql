-- Marks deliveries that healthy receivers have taken and no workflow waits for: they move from the old status to the new
-- one. Returns which; the others need a closer look. The old status is a parameter, which keeps PostgreSQL from reading
-- all open deliveries: each is found by its id.
create or replace function mark_delivered(taken jsonb, webhook_ids text[], old_status text, new_status text)
returns setof text language plpgsql rows 100
set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  well text[] := array(select w.id from webhooks w where w.id = any(webhook_ids) and w.failures = 0);
begin
  return query
  update deliveries d set status = new_status, due_at = null, leased_until = null, updated_at = clock_timestamp(),
    attempts = d.attempts || (taken -> d.id)
  where d.id = any(array(select jsonb_object_keys(taken))) and d.status = old_status and d.workflow_id is null
    and jsonb_array_length(d.attempts) < 10 and d.webhook_id = any(well)
  returning d.id;
end $$;
