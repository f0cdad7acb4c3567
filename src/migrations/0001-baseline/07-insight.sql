-- Area: insight. Sums for reports, so that they need not read payments one by one.

-- When how much of a payment has come back: refunded_cents of the payment is the sum. Written by a trigger,
-- note_refund, so that no way of changing a payment can forget it. Negative where it was sent back once more.
create table transaction_refunds (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  transaction_id text collate "C" not null,
  id bigint generated always as identity,
  -- In the tenant's time.
  at timestamptz(3) not null,
  cents bigint not null check (cents <> 0),
  written_in bigint not null,
  primary key (owner_id, mode, transaction_id, id)
);
create index transaction_refunds_by_commit_and_id on transaction_refunds (written_in, id);
create index transaction_refunds_of_tenant_by_commit_and_id on transaction_refunds (owner_id, mode, written_in, id);

-- The transaction of the journal up to which everything is in the sums: what is written in a later one is not.
create table spend_position (
  is_only boolean default true primary key check (is_only),
  written_in bigint not null,
  event_id text collate "C" not null default '',
  refund_id bigint not null default 0
);
insert into spend_position (written_in) values (0);

-- How each transaction is in the sums just now: what it counts later is the difference.
create table spend_counted (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  transaction_id text collate "C" not null,
  kind text check (kind in ('spent', 'came_back', 'kept_back')),
  cents bigint not null,
  type text not null,
  intent_id text,
  rule text,
  merchant text not null,
  primary key (owner_id, mode, transaction_id)
);

-- The sums. Each payment is in one cell of every view: so a report reads the cells of one view in its span, and what
-- that costs depends on days and groups, not on payments. One table, as every view is read and written alike.
create table spend_cells (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- agent, merchant, mcc, wallet, type, run, kept_back, or label: with a key of the metadata of intents.
  view text collate "C" not null,
  -- In UTC, by the tenant's time.
  day date not null,
  -- Empty where the owner has paid.
  agent_id text collate "C" not null,
  run_id text collate "C" not null,
  value text collate "C" not null,
  payments bigint not null,
  spent_cents bigint not null,
  refunded_cents bigint not null,
  fee_cents bigint not null,
  primary key (owner_id, mode, view, day, agent_id, run_id, value)
) with (fillfactor = 80);
create index spend_cells_of_merchants on spend_cells (owner_id, mode, value, day) where view = 'merchant';
create index spend_cells_of_pairs on spend_cells (owner_id, mode, value, agent_id, day) where view = 'merchant';
create index spend_cells_of_refusals on spend_cells (owner_id, mode, value, day) where view = 'refused:merchant';

-- How the texts of payments name a merchant.
create table merchant_names (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  merchant text collate "C" not null,
  name text collate "C" not null,
  primary key (owner_id, mode, merchant, name)
);

-- What has come of payments, as agents and owners report it.
create table outcomes (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  run_id text collate "C",
  -- As payments are grouped, and when the intent was declared: both never change.
  merchant text collate "C" not null,
  mcc text,
  declared_at timestamptz(3) not null,
  success boolean not null,
  value_cents bigint check (value_cents >= 0),
  note text,
  metadata jsonb not null,
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
create unique index outcomes_one_per_intent on outcomes (owner_id, mode, intent_id);
create index outcomes_by_agent on outcomes (owner_id, mode, agent_id, id);
create index outcomes_by_run on outcomes (owner_id, mode, run_id, id) where run_id is not null;
create index outcomes_by_declaration on outcomes (owner_id, mode, declared_at);

-- When the forecast of an agent is held against its monthly limit next, and the month in which its owner was told.
create table budget_watches (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  agent_id text collate "C" not null,
  due_at timestamptz(3) not null,
  told_month text check (told_month ~ '^[0-9]{4}-[0-9]{2}$'),
  primary key (owner_id, mode, agent_id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index budget_watches_due on budget_watches (mode, due_at);
create index budget_watches_due_of_tenant on budget_watches (owner_id, mode, due_at);
