-- Makes the next deliveries of a paused subscription, `most` at the most, of events after `earliest`, up to where the
-- journal has been read for the others; tells whether none is left. It makes nothing where another process is at the same,
-- or where the journal is held up for long.
create or replace function replay_events(of_webhook text, most integer, earliest text)
returns table (made integer, is_through boolean)
language plpgsql set lock_timeout = '500ms' set enable_seqscan = off as $$
declare
  w webhooks%rowtype;
  read_to jsonb;
  below bigint;
  open bigint[];
  part bigint;
  part_id text;
  seen integer;
  last_in bigint;
  last_id text;
begin
  select * into w from webhooks one where one.id = of_webhook and one.status = 'active'
    and one.deleted_at is null and one.backlog_after is not null for no key update skip locked;
  if not found then
    return query select 0, false;
    return;
  end if;
  select position into read_to from delivery_position for share;
  select p.below, p.open, p.part, p.part_id into below, open, part, part_id
  from jsonb_to_record(w.backlog_position) as p(below bigint, open bigint[], part bigint, part_id text);

  with next as materialized (
    select * from (
      (select * from events e where (e.owner_id, e.mode) = (w.owner_id, w.mode)
        and e.written_in = part and e.id > part_id collate "C" and is_read(e.written_in, e.id, read_to)
        order by e.written_in, e.id limit 1000)
      union all
      (select * from events e where part is null and (e.owner_id, e.mode) = (w.owner_id, w.mode)
        and e.written_in = any(open) and is_read(e.written_in, e.id, read_to) order by e.written_in, e.id limit 1000)
      union all
      (select e.* from tenant_events_after(w.owner_id, w.mode, below, '', (read_to ->> 'below')::bigint,
        array(select jsonb_array_elements_text(read_to -> 'open')::bigint), 1000) e where part is null)
      union all
      (select * from events e where part is null and (e.owner_id, e.mode) = (w.owner_id, w.mode)
        and e.written_in >= below and e.written_in = (read_to ->> 'part')::bigint and is_read(e.written_in, e.id, read_to)
        order by e.written_in, e.id limit 1000)
    ) unread order by unread.written_in, unread.id limit 1000
  ), wanted as materialized (
    select n.* from next n
    where n.id > earliest collate "C" and (n.event <> 'webhook.ping' or n.data ->> 'webhookId' = w.id)
      and case when n.written_in < w.wanted_since then wanted_before(w, n.written_in, n.event)
        else n.event = 'webhook.ping' or w.events && array['*', n.event] end
      and not exists (select from deliveries d where d.id >= 'delivery_' || substr(n.id, 7, 10)
        and d.id < 'delivery_' || substr(n.id, 7, 10) || '~' and d.event_id = n.id and d.webhook_id = w.id)
    order by n.written_in, n.id limit most
  ), new as (
    insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
      claims, tries, attempts)
    select delivery_id(n.id, w.id), w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, n.id, n.event, 'pending',
      clock_timestamp(), 0, 0, '[]'
    from wanted n order by n.written_in, n.id
  )
  select (select count(*) from next), (select count(*) from wanted), last.written_in, last.id into seen, made, last_in, last_id
  from (select 1) one left join lateral (
    select n.written_in, n.id from next n
    where (select count(*) from wanted) < most or (n.written_in, n.id) <= (
      select l.written_in, l.id from wanted l order by l.written_in desc, l.id desc limit 1)
    order by n.written_in desc, n.id desc limit 1
  ) last on true;
  is_through := part is null and seen < 1000 and made < most;
  update webhooks one set backlog_after = coalesce(last_id, w.backlog_after),
    backlog_position = position_behind(w.backlog_position, read_to, seen = 1000 or made = most, last_in, last_id)
  where one.id = of_webhook;
  return next;
exception when lock_not_available then
  return query select 0, false;
end $$;
