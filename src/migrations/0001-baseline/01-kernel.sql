-- Area: kernel. What every area stands on: the journal, idempotency, work for Temporal, and what limits callers.

-- The role as which the programs work. It owns nothing: what the journal and the ledger have written it can read and not
-- change, whatever our own code tries. Each table says what it may not do.
do $$
begin
  if to_regrole('agentpay_application') is null then
    create role agentpay_application nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then
    raise exception 'The role agentpay_application is missing, and % may not create it.', current_user
      using hint = format('As an administrator: create role agentpay_application nologin; grant agentpay_application to %I;', current_user);
end $$;
do $$
begin
  if not pg_has_role(current_user, 'agentpay_application', 'set') then
    execute format('grant agentpay_application to %I', current_user);
  end if;
end $$;

grant usage on schema public to agentpay_application;
alter default privileges in schema public grant select, insert, update, delete on tables to agentpay_application;
alter default privileges in schema public grant usage on sequences to agentpay_application;

-- The migrations that this database has run, each with the checksum of its text.
create table migration_checksums (
  name text collate "C" primary key,
  checksum text not null
);
revoke insert, update, delete on migration_checksums from agentpay_application;

-- A row each time that a function's file was applied: the last one is in force.
create table applied_functions (
  id bigint generated always as identity primary key,
  name text collate "C" not null,
  checksum text not null,
  applied_at timestamptz(3) not null default clock_timestamp()
);
create index applied_functions_by_name on applied_functions (name, id);
revoke insert, update, delete on applied_functions from agentpay_application;

-- How far the clock of a test tenant has been moved, and how far it is to be.
create table tenant_clocks (
  owner_id text not null,
  mode text not null check (mode = 'test'),
  offset_ms bigint not null check (offset_ms >= 0),
  aim_ms bigint not null default 0 check (aim_ms >= 0),
  primary key (owner_id, mode)
);

-- The journal: what has happened, who did it, and with which outcome. A partition for each month: add_event_partitions.
create table events (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null,
  agent_id text,
  event text not null,
  data jsonb not null,
  request_id text not null,
  run_id text,
  -- In the tenant's time.
  created_at timestamptz(3) not null,
  -- Who did what, with which outcome, to which record, from where, and when in real time.
  actor_type text not null,
  actor_id text,
  action text not null,
  outcome text not null,
  resource_id text not null,
  address text,
  recorded_at timestamptz(3) not null default now(),
  -- The id of the audit entry, where it is not that of the event with its own prefix.
  audit_id text collate "C",
  -- The transaction that has written the event. Ids are made before the commit, so they are no cursor; what lies
  -- below the oldest transaction that is still open is complete, whatever process wrote it.
  written_in bigint not null default ((pg_current_xact_id())::text)::bigint + 0,
  primary key (owner_id, mode, id),
  constraint events_mode_check1 check (mode in ('test', 'live'))
) partition by range (id);
create index events_by_name on events (owner_id, mode, event, id);
create index events_by_agent on events (owner_id, mode, agent_id, id) where agent_id is not null;
create index events_by_resource on events (owner_id, mode, resource_id, id);
create index events_by_request on events (owner_id, mode, request_id, id);
create index events_by_run on events (owner_id, mode, run_id, id) where run_id is not null;
create index events_by_delegation on events (owner_id, mode, ((data ->> 'delegationId')), id)
  where data ->> 'delegationId' is not null;
-- Both orders are needed. One process follows all tenants at once, and reads what is new to any of them in one
-- range. Who resumes reads one tenant's past, and what that costs must not depend on all others. Bounding a scan of
-- the primary key by the times in ids would need no index, and would miss events where a transaction was open for
-- longer than the bound, or a clock was wrong. Numbers of transactions rise, so the first index only grows at its
-- end: it makes the insertion of an event 2 to 4 % dearer, and the second one 5 to 8 %.
create index events_by_commit on events (written_in, id);
create index events_of_tenant_by_commit on events (owner_id, mode, written_in, id);
-- Only a decision has a row here, so no other event pays for it. Without it the page of what was decided reads all
-- that has ever happened to an owner who decides rarely.
create index events_of_decisions on events (owner_id, mode, id)
  where action in ('intents.approve', 'intents.deny', 'cardRequests.approve', 'cardRequests.deny',
  'transfers.confirmPayee') and event in ('intent.approved', 'intent.denied', 'card_limit_request.updated',
  'payment.updated');
revoke update, delete on events from agentpay_application;

-- What is added to the numbers of this cluster's transactions. A dump that is restored into another cluster brings
-- numbers that lie ahead of that cluster's own: see continue_journal.
create table journal_origin (
  is_only boolean default true primary key check (is_only),
  added bigint not null
);
revoke insert, update, delete on journal_origin from agentpay_application;
insert into journal_origin (added) values (0);

-- The streams of events that are open, each in a place of its owner. They end with the process that serves them.
create table event_streams (
  owner_id text not null,
  place integer not null check (place > 0),
  id text collate "C" not null,
  leased_by text collate "C" not null,
  opened_at timestamptz(3) not null,
  primary key (owner_id, place)
);
create index event_streams_by_lease on event_streams (leased_by);

-- Calls with an idempotency key, each with its answer once there is one.
create table idempotency_keys (
  owner_id text not null,
  mode text not null,
  agent_id text not null,
  operation text not null,
  key text not null,
  request_hash text not null,
  status integer,
  body text,
  error_code text,
  reservation jsonb,
  created_at timestamptz(3) not null,
  -- The lease of the process that makes the call, null where there is none under way.
  leased_by text collate "C",
  primary key (owner_id, mode, agent_id, operation, key)
);
create index idempotency_by_age on idempotency_keys (created_at);

-- Work for Temporal, written with the change that asks for it.
create table outbox (
  id text collate "C" primary key,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  process text not null,
  recurs boolean not null,
  workflow_id text not null,
  input jsonb not null,
  attempts integer not null default 0,
  created_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  -- The process that has taken it, null where nobody has.
  leased_by text collate "C"
);
create index outbox_by_due on outbox (due_at);
create index outbox_by_tenant on outbox (owner_id, mode, workflow_id);

-- A process that takes work. It says again and again that it lives; once it has not for so long, its row goes, and with it
-- what it has taken is free.
create table process_leases (
  id text collate "C" primary key,
  kind text not null check (kind in ('deliveries', 'pushes', 'outbox', 'streams', 'calls')),
  held_until timestamptz(3) not null
);
alter table event_streams add foreign key (leased_by) references process_leases (id) on delete cascade;

-- The requests of each client in the present minute. Losing them in a crash costs nothing.
create unlogged table rate_limits (
  client text primary key,
  used integer not null,
  resets_at timestamptz(3) not null
);
create index rate_limits_by_end on rate_limits (resets_at);

-- Wrong codes of the last ten minutes, of a person or an address.
create table wrong_guesses (
  guesser text collate "C" primary key,
  wrong_at timestamptz(3)[] not null,
  last_at timestamptz(3) not null
);
create index wrong_guesses_by_last on wrong_guesses (last_at);

-- Proofs of possession that have been used: each counts once, in all processes.
create table used_proofs (
  digest text collate "C" primary key,
  expires_at timestamptz(3) not null
);
create index used_proofs_by_end on used_proofs (expires_at);

-- Which files beside the database are used, and by which records: a file that no row names is swept.
create table stored_files (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The id of the record that uses it: equal files of two records are one on disk.
  used_by text collate "C" not null check (used_by <> ''),
  bytes bigint not null check (bytes > 0),
  type text not null check (type ~ '^[a-z]+/[a-z0-9.+-]+$'),
  created_at timestamptz(3) not null,
  primary key (owner_id, mode, sha256, used_by)
);

-- What the files of an owner take up. A trigger of `stored_files` counts it: see `functions/count_files.sql`.
create table file_usage (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- Equal files of several records are one.
  files bigint not null check (files >= 0),
  bytes bigint not null check (bytes >= 0),
  primary key (owner_id, mode)
) with (fillfactor = 50);
