-- Makes the next deliveries of a paused subscription, `most` at the most, of events after `earliest`; tells whether none
-- is left. It makes nothing where another process is at the same, or where publishing takes long.
create or replace function replay_events(of_webhook text, most integer, earliest text)
returns table (made integer, is_through boolean)
language plpgsql set lock_timeout = '500ms' set enable_seqscan = off as $$
declare
  w webhooks%rowtype;
  last_event text;
  seen integer;
  last_seen text;
  last_made text;
begin
  select * into w from webhooks one where one.id = of_webhook and one.status = 'active'
    and one.deleted_at is null and one.backlog_after is not null for no key update skip locked;
  if not found then
    return query select 0, false;
    return;
  end if;
  last_event := hold_events(w.owner_id, w.mode);
  with next as materialized (
    select e.id, e.event, e.data from events e
    where e.owner_id = w.owner_id and e.mode = w.mode and e.id > greatest(w.backlog_after, earliest)
    order by e.id limit 1000
  ), wanted as (
    select n.id, n.event from next n
    where case n.event when 'webhook.ping' then n.data ->> 'webhookId' = w.id else coalesce((
      select s.value -> 'events' from jsonb_array_elements(w.backlog_wanted) with ordinality s
      where s.value ->> 'until' >= n.id collate "C" order by s.ordinality limit 1
    ), to_jsonb(w.events)) ?| array['*', n.event] end
    order by n.id limit most
  ), new as (
    insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
      claims, tries, attempts)
    select 'delivery_' || substr(n.id, 7, 10) || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
      w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, n.id, n.event, 'pending', clock_timestamp(),
      0, 0, '[]'
    from wanted n order by n.id
    returning event_id
  )
  select (select count(*) from next), (select max(n.id) from next n), (select count(*) from new),
    (select max(event_id) from new)
  into seen, last_seen, made, last_made;
  is_through := seen < 1000 and made < most;
  update webhooks one set backlog_after =
    case when is_through then greatest(w.backlog_after, last_event) when made = most then last_made else last_seen end
  where one.id = of_webhook;
  return next;
exception when lock_not_available then
  return query select 0, false;
end $$;
