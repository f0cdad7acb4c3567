-- Area: control. Agents, what they mean to spend, and what decides about it.

-- The agents of an owner.
create table agents (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null,
  description text,
  external_id text,
  status text not null check (status in ('active', 'frozen', 'deleting', 'deleted')),
  frozen_reason text,
  wallet_id text not null,
  policy_id text,
  metadata jsonb not null,
  deletion_due_at timestamptz(3),
  frozen_by_alert_id text,
  primary key (owner_id, mode, id),
  unique (owner_id, mode, external_id),
  check ((status = 'active' or status = 'frozen') = (deletion_due_at is null))
);
create index agents_being_deleted on agents (mode, deletion_due_at) where status = 'deleting';

-- The secrets that agents call with.
create table agent_tokens (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  label text not null,
  hash text not null unique,
  hint text not null,
  scopes text[] not null,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  max_amount_cents bigint check (max_amount_cents > 0),
  delegation_id text,
  -- The thumbprint (RFC 7638) of the key that signs a proof of possession for each request (RFC 9449).
  bound_to text check (bound_to ~ '^[A-Za-z0-9_-]{43}$'),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index agent_tokens_by_agent on agent_tokens (owner_id, mode, agent_id, id);
create unique index agent_tokens_of_delegation on agent_tokens (owner_id, mode, delegation_id)
  where delegation_id is not null;

-- What an agent may spend: a policy of its own, or a template for several.
create table policies (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text,
  template_id text,
  assigned_at timestamptz(3),
  deleted_at timestamptz(3),
  version integer not null check (version >= 1),
  name text not null check (name <> ''),
  max_transaction_cents bigint check (max_transaction_cents >= 0),
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  auto_approve_limit_cents bigint check (auto_approve_limit_cents >= 0),
  merchant_allowlist text[] not null,
  merchant_blocklist text[] not null,
  mcc_categories text[] not null,
  allowed_countries text[] not null,
  lock_to_first_merchant boolean not null,
  cooldown_minutes integer check (cooldown_minutes >= 0),
  allowed_mccs text[] not null,
  blocked_mccs text[] not null,
  require_intent boolean not null,
  require_attestation boolean not null,
  attestation_window_minutes integer check (attestation_window_minutes >= 1),
  expires_after_minutes integer check (expires_after_minutes >= 1),
  expiration_action text not null check (expiration_action in ('freeze', 'close', 'notify')),
  active_hours_start integer check (active_hours_start between 0 and 23),
  active_hours_end integer check (active_hours_end between 0 and 23),
  max_usage_count integer check (max_usage_count >= 1),
  amount_tolerance_percent double precision check (amount_tolerance_percent >= 0::double precision),
  expires_at timestamptz(3),
  expired_at timestamptz(3),
  overridden jsonb not null default '{}',
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, template_id) references policies (owner_id, mode, id) deferrable initially deferred
);
create unique index policies_one_for_an_agent on policies (owner_id, mode, agent_id)
  where agent_id is not null and deleted_at is null;
create index policies_by_template on policies (owner_id, mode, template_id) where template_id is not null;
create index policies_by_end on policies (mode, expires_at)
  where agent_id is not null and deleted_at is null and expired_at is null;
create index policies_with_a_run on policies (agent_id)
  where agent_id is not null and deleted_at is null and expired_at is null and expires_at is not null;
-- The few policies that are no agent's own. Without it whoever lists them reads those of all agents.
create index policies_without_agent on policies (owner_id, mode, id) where agent_id is null;
alter table agents add constraint agents_policy_fkey foreign key (owner_id, mode, policy_id)
  references policies (owner_id, mode, id) deferrable initially deferred;

-- What a policy said from when on.
create table policy_versions (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  policy_id text not null,
  agent_id text,
  version integer not null,
  rules jsonb not null,
  changed_by_type text not null,
  changed_by_id text,
  primary key (owner_id, mode, id),
  unique (owner_id, mode, policy_id, version),
  foreign key (owner_id, mode, policy_id) references policies (owner_id, mode, id) deferrable initially deferred
);
create index policy_versions_by_policy on policy_versions (owner_id, mode, policy_id, id);

-- The runs of agents: what they do for one task.
create table runs (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  name text not null check (name <> ''),
  external_id text,
  status text not null check (status in ('running', 'completed', 'failed')),
  budget_cents bigint check (budget_cents >= 0),
  comment text,
  reason text,
  ended_at timestamptz(3),
  metadata jsonb not null,
  delegation_id text,
  primary key (owner_id, mode, id),
  unique (owner_id, mode, agent_id, id),
  check ((status = 'running') = (ended_at is null)),
  check ((status = 'failed') = (reason is not null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create unique index runs_by_name on runs (owner_id, mode, external_id, agent_id) where external_id is not null;
create index runs_by_status on runs (owner_id, mode, status, id);
create index runs_going_on on runs (owner_id, mode, agent_id, id) where status = 'running';

-- Budgets that are handed on, and redeemed for a token.
create table delegations (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  parent_delegation_id text,
  ancestors text[] not null check (cardinality(ancestors) <= 8),
  label text,
  merchant text,
  max_amount_cents bigint not null check (max_amount_cents > 0),
  scopes text[] not null,
  status text not null check (status in ('issued', 'redeemed', 'revoked', 'expired')),
  code_hash text not null unique,
  hint text not null,
  code_expires_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  redeemed_at timestamptz(3),
  token_id text,
  revoked_at timestamptz(3),
  primary key (owner_id, mode, id),
  unique (owner_id, mode, agent_id, id),
  check (code_expires_at <= expires_at),
  check ((redeemed_at is null) = (token_id is null)),
  check ((status = 'revoked') = (revoked_at is not null)),
  check ((parent_delegation_id is null) = (cardinality(ancestors) = 0)),
  check (parent_delegation_id is not distinct from ancestors[cardinality(ancestors)]),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id, parent_delegation_id)
    references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, token_id) references agent_tokens (owner_id, mode, id) deferrable initially deferred
);
create index delegations_by_status on delegations (owner_id, mode, status, id);
create index delegations_by_parent on delegations (owner_id, mode, parent_delegation_id, id)
  where parent_delegation_id is not null;
create index delegations_by_end on delegations (mode, expires_at) where status in ('issued', 'redeemed');
alter table agent_tokens add foreign key (owner_id, mode, agent_id, delegation_id)
  references delegations (owner_id, mode, agent_id, id) deferrable initially deferred;
alter table runs add foreign key (owner_id, mode, agent_id, delegation_id)
  references delegations (owner_id, mode, agent_id, id) deferrable initially deferred;

-- What agents mean to spend.
create table intents (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  status text not null check (status in ('created', 'approved', 'denied', 'cancelled', 'expired', 'completed')),
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null check (currency = 'EUR'),
  merchant text not null,
  mcc text,
  country text,
  purpose text not null,
  beneficiary_id text,
  wallet_id text,
  card_id text,
  run_id text,
  delegation_id text,
  client_intent_id text,
  possible_duplicate_of text,
  expires_at timestamptz(3) not null,
  decided_at timestamptz(3),
  decided_by jsonb,
  comment text,
  decision jsonb not null,
  transaction_id text,
  workflow_id text,
  metadata jsonb not null,
  -- What makes two intents of an agent alike; of those that came to nothing a second one is no double.
  likeness text,
  payment_id text,
  token_id text,
  payee_iban text,
  merchant_key text collate "C",
  hold_cents bigint,
  request_id text collate "C",
  payment_token_id text collate "C",
  receipt_status text check (receipt_status in ('matched', 'mismatch')),
  primary key (owner_id, mode, id),
  check ((decided_at is null) = (decided_by is null)),
  constraint intents_payee check (num_nonnulls(beneficiary_id, wallet_id, request_id, payment_token_id) <= 1),
  check (status not in ('approved', 'denied', 'completed') or decided_at is not null),
  check (payment_id is null or status = 'approved'),
  check ((status = 'completed') = (transaction_id is not null)),
  foreign key (owner_id, mode, agent_id, delegation_id)
    references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id, run_id)
    references runs (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, token_id) references agent_tokens (owner_id, mode, id) deferrable initially deferred
);
create index intents_by_agent on intents (owner_id, mode, agent_id, id);
create index intents_by_status on intents (owner_id, mode, status, id);
create index intents_open_by_deadline on intents (mode, expires_at) where status in ('created', 'approved');
create index intents_open_by_agent on intents (owner_id, mode, agent_id, id) where status in ('created', 'approved');
create unique index intents_by_name on intents (owner_id, mode, client_intent_id, agent_id)
  where client_intent_id is not null;
create index intents_alike on intents (agent_id, likeness, created_at)
  where status in ('created', 'approved', 'completed');
create index intents_by_run on intents (owner_id, mode, run_id, id) where run_id is not null;
create index intents_open_by_delegation on intents (owner_id, mode, delegation_id, id)
  where delegation_id is not null and status in ('created', 'approved');
create index intents_by_folded_merchant on intents (owner_id, mode, lower((merchant collate pg_c_utf8)), id);
create index intents_with_a_run on intents (id) where status in ('created', 'approved') and workflow_id is not null;
create index intents_payable on intents (owner_id, mode, agent_id, merchant_key, hold_cents, expires_at)
  where status = 'approved' and payment_id is null;
-- What is about a payee is found without reading all intents.
create index intents_by_beneficiary on intents (owner_id, mode, beneficiary_id, id) where beneficiary_id is not null;

-- The proofs of approvals.
create table approvals (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  intent_id text collate "C" not null,
  jws text not null check (char_length(jws) between 1 and 65536),
  kept_until date not null,
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
-- An intent is approved once.
create unique index approvals_of_intent on approvals (owner_id, mode, intent_id);
revoke update, delete on approvals from agentpay_application;

-- The names behind the commitments in approvals, which can be forgotten.
create table approval_openings (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  openings jsonb not null check (jsonb_typeof(openings) = 'object'),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, id) references approvals (owner_id, mode, id) deferrable initially deferred
);
revoke update on approval_openings from agentpay_application;

-- Every decision about a payment, with all that it was made by.
create table decisions (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  subject_type text not null,
  subject_id text not null,
  policy_id text,
  policy_version integer,
  request jsonb not null,
  counters jsonb not null,
  result jsonb not null,
  primary key (owner_id, mode, id),
  check ((policy_id is null) = (policy_version is null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index decisions_by_subject on decisions (owner_id, mode, subject_id, id);
create index decisions_in_time on decisions (owner_id, mode, agent_id, created_at, id);
revoke update, delete on decisions from agentpay_application;

-- What all agents of an owner may spend together; of owners who have set nothing there is no row and no counter.
create table owner_budgets (
  id text collate "C" not null,
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  primary key (owner_id, mode, id),
  unique (owner_id, mode),
  check (num_nonnulls(daily_limit_cents, monthly_limit_cents) > 0)
);

-- Of a subject (an agent, a run, a card, …) in a period: `all`, `day:2026-11-20`, `month:2026-11`.
create table counters (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  subject text collate "C" not null,
  period text collate "C" not null
    check (translate(period, '012345678', '999999999') in ('all', 'day:9999-99-99', 'month:9999-99')
      or period ~ '^(day:\d{4,}-\d\d-\d\d|month:\d{4,}-\d\d)$'),
  reserved_cents bigint not null default 0 check (reserved_cents >= 0),
  spent_cents bigint not null default 0 check (spent_cents >= 0),
  reserved_uses integer not null default 0 check (reserved_uses >= 0),
  uses integer not null default 0 check (uses >= 0),
  -- Since when the uses are counted: a policy that is assigned again begins anew.
  term timestamptz(3),
  last_spend_at timestamptz(3),
  first_merchant text,
  primary key (owner_id, mode, subject, period)
) with (fillfactor = 50);

-- What one hold has taken of which counters: a capture after midnight changes the day that it was taken from.
create table reservations (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  cause_type text not null,
  cause_id text collate "C" not null,
  subjects text[] not null check (cardinality(subjects) > 0),
  day date not null,
  term timestamptz(3),
  amount_cents bigint not null check (amount_cents > 0),
  reserved_cents bigint not null,
  spent_cents bigint not null check (spent_cents >= 0),
  made boolean not null default false,
  primary key (owner_id, mode, cause_type, cause_id),
  check (reserved_cents between 0 and amount_cents)
);

-- What a person has allowed an agent in advance, signed by a passkey.
create table mandates (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  name text check (name <> ''),
  per_transaction_cents bigint check (per_transaction_cents > 0),
  per_day_cents bigint check (per_day_cents > 0),
  per_month_cents bigint check (per_month_cents > 0),
  total_cents bigint check (total_cents > 0),
  count integer check (count > 0),
  merchants text[] not null,
  mccs text[] not null,
  countries text[] not null,
  expires_at timestamptz(3) not null,
  status text not null check (status in ('active', 'suspended', 'revoked', 'expired', 'exhausted')),
  suspended_because text check (suspended_because in ('requested', 'agent_frozen', 'agent_deleted', 'signer_removed')),
  comment text,
  ended_at timestamptz(3),
  -- The person and the passkey that have signed it, and both signatures over it as anybody can check them.
  person_id text collate "C" not null,
  passkey_id text collate "C" not null,
  jws text not null,
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check (expires_at > created_at),
  check (num_nonnulls(per_transaction_cents, per_day_cents, per_month_cents, total_cents) > 0),
  check ((status = 'suspended') = (suspended_because is not null)),
  check (status in ('revoked', 'expired', 'exhausted') = (ended_at is not null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, passkey_id) references passkeys (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create index mandates_by_agent on mandates (owner_id, mode, agent_id, id);
create index mandates_by_status on mandates (owner_id, mode, status, id);
-- Each batch of intents asks for those of its agents, which mostly have none.
create index mandates_active on mandates (owner_id, mode, agent_id, id) where status = 'active';
create index mandates_by_person on mandates (owner_id, mode, person_id, id) where status in ('active', 'suspended');
create index mandates_due on mandates (mode, expires_at) where status in ('active', 'suspended');
create index mandates_with_a_run on mandates (id) where status in ('active', 'suspended');

-- What is usual for an agent. One row for each, of a fixed size: rewritten with every batch, in place.
create table risk_profiles (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  agent_id text collate "C" not null,
  amounts bigint[] not null check (cardinality(amounts) <= 64),
  hours integer[] not null check (cardinality(hours) = 24),
  last_country text,
  last_at timestamptz(3),
  minute bigint not null,
  counts integer[] not null check (cardinality(counts) <= 60),
  primary key (owner_id, mode, agent_id),
  check ((last_country is null) = (last_at is null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
) with (fillfactor = 50);

-- Whom an agent has paid, by a digest of the folded name.
create table risk_merchants (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  agent_id text collate "C" not null,
  merchant text collate "C" not null,
  primary key (owner_id, mode, agent_id, merchant)
);

-- What was unusual.
create table risk_events (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  outcome text not null check (outcome in ('pass', 'review', 'deny', 'freeze', 'unfreeze')),
  score integer not null check (score between 0 and 100),
  signals jsonb not null,
  subject_type text not null,
  subject_id text not null,
  decision_id text,
  alert_id text,
  amount_cents bigint check (amount_cents > 0),
  merchant text,
  comment text,
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index risk_events_by_agent on risk_events (owner_id, mode, agent_id, id);
revoke update, delete on risk_events from agentpay_application;

-- What a person should look at.
create table risk_alerts (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  status text not null check (status in ('open', 'acknowledged')),
  score integer not null check (score between 0 and 100),
  signals jsonb not null,
  subject_type text not null,
  subject_id text not null,
  merchant_key text not null,
  acknowledged_at timestamptz(3),
  acknowledged_by_id text,
  comment text,
  lifted_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((status = 'acknowledged') = (acknowledged_at is not null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index risk_alerts_by_agent on risk_alerts (owner_id, mode, agent_id, id);
-- An agent is frozen by one alert at a time.
create unique index risk_alerts_in_force on risk_alerts (owner_id, mode, agent_id) where lifted_at is null;

-- What an owner wants to follow from something unusual.
create table risk_configs (
  id text collate "C" not null,
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  enabled boolean not null,
  review_from integer not null check (review_from between 0 and 100),
  deny_from integer not null,
  freeze_from integer not null,
  weights jsonb not null,
  velocity_window_minutes integer not null check (velocity_window_minutes between 1 and 60),
  velocity_count integer not null check (velocity_count >= 1),
  primary key (owner_id, mode, id),
  unique (owner_id, mode),
  check (deny_from between review_from and 100),
  check (freeze_from between deny_from and 100)
);
