-- Area: delivery. Deliverers make deliveries of committed events, and no longer the transaction of the event.

-- No event is half published meanwhile: each that has deliveries is committed, and each that comes has none.
lock table events in share mode;

-- Up to where the journal has been read for deliveries. A position is what a snapshot of PostgreSQL is: transactions
-- `below` it have been read, but for those that were `open`; of the transaction `part` the events up to `part_id`. So no
-- event is missed and none waits for an older transaction to end.
create table delivery_position (
  only_one boolean default true primary key check (only_one),
  position jsonb not null
);
insert into delivery_position (position)
select jsonb_build_object('below', pg_snapshot_xmax(now)::text::bigint + added,
  'open', array(select open::text::bigint + added from pg_snapshot_xip(now) as open))
from pg_current_snapshot() as now, journal_origin;

-- What a process has read of the journal and not written yet as deliveries. Once the process has died another one reads
-- it again.
create table delivery_ranges (
  id bigint generated always as identity primary key,
  leased_by text collate "C" not null,
  begins jsonb not null,
  ends jsonb not null
);

-- Which events a subscription wanted before it was changed: of the transactions from `since` up to and without `until`.
create table webhook_versions (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  webhook_id text collate "C" not null,
  since bigint not null,
  until bigint not null,
  events text[] not null,
  primary key (owner_id, mode, webhook_id, since),
  check (since < until)
);

alter table webhooks
  -- The transaction since which it wants the events that it names.
  add column wanted_since bigint not null default 0,
  -- Up to where the journal has become deliveries, while it is paused by its backlog.
  add column backlog_position jsonb;

-- A subscription that is paused: what it has missed begins with the first transaction behind its last event.
update webhooks w set backlog_position = jsonb_build_object('open', '[]'::jsonb, 'below', coalesce((
  select min(e.written_in) from events e
  where e.owner_id = w.owner_id and e.mode = w.mode and e.id > w.backlog_after
), (select (position ->> 'below')::bigint from delivery_position)))
where w.backlog_after is not null;

insert into webhook_versions (owner_id, mode, webhook_id, since, until, events)
select owner_id, mode, id, since, until, array(select jsonb_array_elements_text(events))
from (
  select w.owner_id, w.mode, w.id, changed.events, changed.until,
    lag(changed.until, 1, 0::bigint) over (partition by w.id order by changed.nth) as since
  from webhooks w cross join lateral (
    select wanted.nth, wanted.value -> 'events' as events, 1 + coalesce((
      select max(e.written_in) from events e
      where e.owner_id = w.owner_id and e.mode = w.mode and e.id <= wanted.value ->> 'until' collate "C"), 0) as until
    from jsonb_array_elements(w.backlog_wanted) with ordinality as wanted(value, nth)
  ) changed
) version
where since < until;

update webhooks w set wanted_since = version.until
from (select webhook_id, max(until) as until from webhook_versions group by webhook_id) version
where version.webhook_id = w.id;

-- Most deliveries are written once: they need less room for changes.
alter table deliveries set (fillfactor = 90);

-- Events are no longer published under a lock.
drop function if exists publishing_lock(text);
