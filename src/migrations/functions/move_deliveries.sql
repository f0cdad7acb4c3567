-- Moves a test tenant's waiting deliveries when its clock is moved forward. Deliveries are due in real time, so their
-- instants come nearer by as much. An attempt that the clock has reached is made by whoever comes first: its run or a deliverer.
create or replace function move_deliveries(of_owner text, of_mode text, by_ms float8) returns void language plpgsql as $$
declare
  span interval := by_ms * interval '1 millisecond';
begin
  -- The order of the locks is that in which outcomes are written.
  perform from deliveries d join webhooks w on (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id)
  where w.owner_id = of_owner and w.mode = of_mode and d.status = 'pending' order by d.id for update of d;
  update deliveries d set
    attempt_at = case when d.attempt_at is not null then moved.to_at end,
    due_at = case when moved.to_at > moved.now then d.due_at - (moved.from_at - moved.to_at) else least(d.due_at, moved.to_at) end,
    ahead_ms = d.ahead_ms + by_ms - extract(epoch from moved.from_at - moved.to_at) * 1000
  from (
    select waiting.id, waiting.from_at, at.now, least(waiting.from_at, greatest(waiting.from_at - span, at.now)) as to_at
    from (select clock_timestamp() as now) at cross join (
      select one.id, coalesce(one.attempt_at, one.due_at) as from_at
      from deliveries one join webhooks w on (w.owner_id, w.mode, w.id) = (one.owner_id, one.mode, one.webhook_id)
      where w.owner_id = of_owner and w.mode = of_mode and one.status = 'pending') waiting
  ) moved
  where d.id = moved.id;
  update webhooks set failing_since = failing_since - span, paused_until = paused_until - span
  where owner_id = of_owner and mode = of_mode and failures > 0;
  perform pg_notify('deliveries', '');
end $$;
