-- Moves a test tenant's waiting deliveries when its clock is moved forward. Deliveries are due in real time, so their
-- instants come nearer by as much.
create or replace function move_deliveries(of_owner text, of_mode text, by_ms float8) returns void language plpgsql as $$
declare
  span interval := by_ms * interval '1 millisecond';
begin
  -- The order of the locks is that in which outcomes are written.
  perform from deliveries d join webhooks w on (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id)
  where w.owner_id = of_owner and w.mode = of_mode and d.status = 'pending' order by d.id for update of d;
  update deliveries d set
    due_at = least(d.due_at, greatest(d.due_at - span, clock_timestamp())),
    ahead_ms = d.ahead_ms + by_ms
      - extract(epoch from d.due_at - least(d.due_at, greatest(d.due_at - span, clock_timestamp()))) * 1000
  from webhooks w
  where (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id)
    and w.owner_id = of_owner and w.mode = of_mode and d.status = 'pending';
  update webhooks set failing_since = failing_since - span, paused_until = paused_until - span
  where owner_id = of_owner and mode = of_mode and failures > 0;
  perform pg_notify('deliveries', '');
end $$;
