-- How many seconds ago the longest waiting delivery could have been made, over a thousand subscriptions at most; null
-- where none waits. Deliveries under way, and those held up by their receiver's failures, do not count. An event that no
-- deliverer has read yet waits, too, where it is among the next ten thousand: the first in the journal's order counts. So
-- does what a deliverer has read and not stored yet, which takes half a second: the first event of the oldest range counts.
create or replace function overdue_seconds() returns float8
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return greatest((
    with recursive waiting as (
      (select d.webhook_id, d.due_at, d.leased_until, 1 as nth from deliveries d where d.status = 'pending'
        order by d.webhook_id, d.due_at limit 1)
      union all
      select next.webhook_id, next.due_at, next.leased_until, waiting.nth + 1
      from waiting cross join lateral (
        select d.webhook_id, d.due_at, d.leased_until from deliveries d
        where d.status = 'pending' and d.webhook_id > waiting.webhook_id
        order by d.webhook_id, d.due_at limit 1
      ) next where waiting.nth < 1000
    )
    select extract(epoch from clock_timestamp() - min(greatest(waiting.due_at, waiting.leased_until, w.paused_until)))
    from waiting join webhooks w on w.id = waiting.webhook_id
    where w.status = 'active' and w.deleted_at is null
      and greatest(waiting.due_at, waiting.leased_until, w.paused_until) <= clock_timestamp()
  ), (
    select extract(epoch from clock_timestamp() - e.recorded_at)
    from (
      select next.* from events next
      where next.written_in >= (select (position ->> 'below')::bigint from delivery_position)
        and not is_read(next.written_in, next.id, (select position from delivery_position))
      order by next.written_in, next.id limit 10000
    ) e cross join lateral (
      select from webhooks w where (w.owner_id, w.mode) = (e.owner_id, e.mode) and w.status = 'active'
        and w.deleted_at is null and w.backlog_after is null and w.wanted_since <= e.written_in
        and w.events && array['*', e.event]
      limit 1
    ) wanted
    order by e.written_in, e.id limit 1
  ), (
    select extract(epoch from clock_timestamp() - first.recorded_at)
    from (select begins, ends from delivery_ranges order by id limit 1) range
    cross join lateral (
      (select e.* from events e
        where e.written_in = any(array(select jsonb_array_elements_text(range.begins -> 'open')::bigint))
          and is_read(e.written_in, e.id, range.ends) and not is_read(e.written_in, e.id, range.begins)
        order by e.written_in, e.id limit 1)
      union all
      (select e.* from events e
        where e.written_in >= (range.begins ->> 'below')::bigint and e.written_in <= (range.ends ->> 'below')::bigint
          and is_read(e.written_in, e.id, range.ends) and not is_read(e.written_in, e.id, range.begins)
        order by e.written_in, e.id limit 1)
    ) first order by first.recorded_at limit 1
  ));
end $$;
