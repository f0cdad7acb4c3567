-- Removes ranges whose deliveries a process has stored. What it was told of its commits does not count: they do not wait for the
-- disk, so a crash of PostgreSQL, or a standby that takes over, loses the last of them. A range goes only where each of its
-- deliveries has a row, which is then as durable as the removal. The others are free, to be read again; returns how many.
create or replace function finish_ranges(holder text, finished bigint[]) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  freed integer;
begin
  delete from delivery_ranges r where r.id = any(finished) and r.leased_by = holder and not exists (
    select from events_between(r.begins, r.ends) e
    join lateral (
      select one as webhook, one.id, one.backlog_position from webhooks one
      where (one.owner_id, one.mode) = (e.owner_id, e.mode) offset 0) w on true
    where wants_event(w.webhook, e.written_in, e.event, e.data)
      and (w.backlog_position is null or is_read(e.written_in, e.id, w.backlog_position))
      and (select true from deliveries d where d.id = delivery_id(e.id, w.id) limit 1) is null);
  update delivery_ranges r set leased_by = '' where r.id = any(finished) and r.leased_by = holder;
  get diagnostics freed = row_count;
  return freed;
end $$;
