-- Area: delivery. Who is told of events, and what they have been told.

-- Who wants to hear of events.
create table webhooks (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  url text not null check (length(url) between 1 and 2048),
  events text[] not null check (cardinality(events) >= 1),
  description text,
  status text not null check (status in ('active', 'disabled')),
  status_reason text,
  secret text not null,
  hint text not null,
  next_secret text,
  next_hint text,
  next_from timestamptz(3),
  failures integer not null check (failures >= 0),
  failing_since timestamptz(3),
  paused_until timestamptz(3),
  deleted_at timestamptz(3),
  backlog_after text collate "C",
  backlog_since timestamptz(3),
  backlog_wanted jsonb not null default '[]',
  primary key (owner_id, mode, id),
  constraint webhooks_backlog check (num_nulls(backlog_after, backlog_since) in (0, 2)),
  check ((status = 'disabled') = (status_reason is not null)),
  check (num_nulls(next_secret, next_hint, next_from) in (0, 3)),
  check ((failures = 0) = (failing_since is null)),
  check (failures > 0 or paused_until is null)
);
create index webhooks_that_listen on webhooks (owner_id, mode) where status = 'active' and deleted_at is null;
create index webhooks_by_status on webhooks (owner_id, mode, status, id) where deleted_at is null;
create index webhooks_paused on webhooks (paused_until) where paused_until is not null;
create index webhooks_behind on webhooks (id) where backlog_after is not null;
create unique index webhooks_by_id on webhooks (id);

-- What has been and will be sent to whom.
create table deliveries (
  id text collate "C" primary key,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  webhook_id text not null,
  event_id text not null,
  event text not null,
  status text not null check (status in ('pending', 'delivered', 'failed', 'dead')),
  -- When it may be taken; where somebody has taken it, when it may be taken from him.
  due_at timestamptz(3),
  claims integer not null check (claims >= 0),
  tries integer not null check (tries >= 0),
  attempts jsonb not null,
  workflow_id text,
  leased_until timestamptz(3),
  -- The process that has taken it, null where nobody has. In no index: to take one costs none a change.
  leased_by text collate "C",
  -- By how many milliseconds its tenant's clock has been moved beyond the instant at which it is due: the waits for
  -- further attempts are shorter by that.
  ahead_ms double precision not null default 0,
  check ((status = 'pending') = (due_at is not null)),
  constraint deliveries_lease check (leased_until is null or status = 'pending')
) with (fillfactor = 80);
create index deliveries_open on deliveries (webhook_id, due_at) where status = 'pending';
create index deliveries_in_trouble on deliveries (owner_id, mode, status, id) where status in ('failed', 'dead');
create index deliveries_dead on deliveries (id) where status = 'dead';
-- A webhook has one owner: with less in it each mark writes less.
create index deliveries_of_webhook on deliveries (webhook_id, id);
create index deliveries_with_a_run on deliveries (id) where status = 'pending' and workflow_id is not null;
-- The list of what was sent to all subscriptions. Without it a page of one owner reads the deliveries of all others.
create index deliveries_of_owner on deliveries (owner_id, mode, id);

-- One pair for the installation: browsers take messages from its holder alone.
create table vapid_keys (
  only_one boolean default true primary key check (only_one),
  public_key text not null,
  private_key text not null,
  created_at timestamptz(3) not null
);

-- Browsers that are told of events.
create table push_subscriptions (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  endpoint text not null check (length(endpoint) between 1 and 2048),
  p256dh text not null,
  auth text not null,
  events text[] not null check (cardinality(events) >= 1),
  label text,
  expires_at timestamptz(3),
  person_id text collate "C",
  primary key (owner_id, mode, id),
  unique (owner_id, mode, endpoint),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create unique index push_subscriptions_by_id on push_subscriptions (id);
create index push_subscriptions_of_person on push_subscriptions (owner_id, mode, person_id, id)
  where person_id is not null;

-- What they have not been told yet.
create table pushes (
  owner_id text not null,
  mode text not null,
  subscription_id text collate "C" not null,
  event_id text collate "C" not null,
  created_at timestamptz(3) not null,
  leased_by text collate "C",
  leased_until timestamptz(3),
  primary key (owner_id, mode, subscription_id, event_id),
  foreign key (owner_id, mode, event_id) references events (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, subscription_id) references push_subscriptions (owner_id, mode, id) on delete cascade
);
create index pushes_by_subscription on pushes (subscription_id, event_id);
create index pushes_by_age on pushes (created_at);
