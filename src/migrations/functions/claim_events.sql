-- Reads the next events of the journal, `most` at the most, or what a process has read that has died, and moves the
-- position of deliveries behind them. What a receiver without failures wants is returned, and leased to the process as one
-- range until it has written these deliveries; the rest becomes deliveries at once. `finished` are ranges that the process
-- has written.
create or replace function claim_events(holder text, most integer, finished bigint[])
returns table (more boolean, range bigint, id text, webhook_id text, event_id text, event text, request_id text, body text)
language plpgsql rows 100 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_generic_plan as $$
declare
  abandoned record;
  is_again boolean;
  begins jsonb;
  below bigint;
  open bigint[];
  part bigint;
  part_id text;
begin
  perform finish_ranges(holder, finished) where finished <> '{}';
  select * into abandoned from delivery_ranges r
  where not exists (select from process_leases l where l.id = r.leased_by)
  order by r.id limit 1 for update skip locked;
  is_again := found;
  if is_again then
    update delivery_ranges r set leased_by = holder where r.id = abandoned.id;
    begins := abandoned.begins;
  else
    select d.position into begins from delivery_position d for update;
  end if;
  select p.below, p.open, p.part, p.part_id into below, open, part, part_id
  from jsonb_to_record(begins) as p(below bigint, open bigint[], part bigint, part_id text);

  return query
  with now as materialized (
    select journal_now() as place
  ), found as materialized (
    (select * from events e where not is_again and e.written_in = part and e.id > part_id collate "C"
      order by e.written_in, e.id limit most)
    union all
    (select * from events e where not is_again and part is null and e.written_in = any(open)
      order by e.written_in, e.id limit most)
    union all
    (select * from events e where not is_again and part is null and e.written_in >= below
      order by e.written_in, e.id limit most)
    union all
    (select * from events_between(begins, abandoned.ends) where is_again)
  ), read as materialized (
    select * from found order by found.written_in, found.id limit case when not is_again then most end
  ), place as materialized (
    select position_behind(begins, now.place, total.is_full, last.written_in, last.id) as ends, total.is_full
    from now cross join (select count(*) = most as is_full from read r) total left join lateral (
      select r.written_in, r.id from read r order by r.written_in desc, r.id desc limit 1) last on true
  ), moved as (
    update delivery_position d set position = place.ends from place where not is_again and d.position <> place.ends
  ), receivers as materialized (
    select w.one as webhook, w.id, w.owner_id, w.mode, w.backlog_position,
      w.failures = 0 and w.status = 'active' and w.deleted_at is null and not exists (
        select from deliveries d where d.webhook_id = w.id collate "default" and d.status = 'pending'
          and d.due_at <= clock_timestamp() and (d.leased_until is null or d.leased_until <= clock_timestamp())) as is_well
    from (select distinct r.owner_id, r.mode from read r) tenant
    cross join lateral (select one, one.* from webhooks one
      where (one.owner_id, one.mode) = (tenant.owner_id, tenant.mode) and (one.backlog_after is null or is_again) offset 0) w
  ), wanted as materialized (
    select delivery_id(e.id, c.id) as id, e.owner_id, e.mode, e.id as event_id, e.event, e.request_id, e.created_at,
      e.recorded_at, e.data, c.id as webhook_id, c.is_well
    from read e join receivers c on (c.owner_id, c.mode) = (e.owner_id, e.mode)
    where wants_event(c.webhook, e.written_in, e.event, e.data)
      and (not is_again or (c.backlog_position is null or is_read(e.written_in, e.id, c.backlog_position))
        and (select true from deliveries d where d.id = delivery_id(e.id, c.id) limit 1) is null)
  ), waiting as (
    insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
      claims, tries, attempts, ahead_ms)
    select w.id, w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.webhook_id, w.event_id, w.event, 'pending',
      clock_timestamp(), 0, 0, '[]', clock_ahead(w.owner_id, w.mode, w.created_at, w.recorded_at)
    from wanted w where not w.is_well on conflict do nothing
  ), leased as (
    insert into delivery_ranges (leased_by, begins, ends) select holder, begins, place.ends from place
    where not is_again and exists (select from wanted w where w.is_well)
    returning delivery_ranges.id
  )
  select is_again or part is not null or place.is_full, coalesce(abandoned.id, (select leased.id from leased)),
    w.id, w.webhook_id, w.event_id, w.event, w.request_id, event_body(w.event, w.created_at, w.data)
  from place left join lateral (select * from wanted one where one.is_well order by one.event_id) w on true;
end $$;
