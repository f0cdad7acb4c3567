-- Area: cards. Cards, payments by card, and who was given card data.

-- Cards, without their numbers.
create table cards (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  status text not null check (status in ('pending', 'inactive', 'active', 'frozen', 'closed')),
  usage text not null check (usage in ('single', 'multi')),
  display_name text not null,
  intent_id text collate "C",
  activates boolean not null,
  frozen_reason text,
  closed_reason text,
  closed_at timestamptz(3),
  wallet_id text collate "C",
  processor text not null,
  number_id text collate "C",
  brand text,
  last4 text check (last4 ~ '^[0-9]{4}$'),
  exp_month integer check (exp_month between 1 and 12),
  exp_year integer check (exp_year between 2000 and 2999),
  processor_problem text,
  due_at timestamptz(3),
  workflow_id text,
  metadata jsonb not null,
  attempts integer not null default 0 check (attempts >= 0),
  call_due_at timestamptz(3),
  next_number_id text collate "C",
  next_number_at timestamptz(3),
  overlap_minutes integer check (overlap_minutes between 0 and 10080),
  spent_at timestamptz(3),
  purse_due_at timestamptz(3),
  request_id text collate "C",
  primary key (owner_id, mode, id),
  check ((status = 'closed') = (closed_at is not null)),
  check (status not in ('inactive', 'active', 'frozen') or number_id is not null),
  check (num_nulls(number_id, brand, last4, exp_month, exp_year) in (0, 5)),
  check (num_nulls(next_number_id, next_number_at, overlap_minutes) in (0, 3)),
  check (purse_due_at is null or status = 'closed' and wallet_id is not null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
create index cards_by_agent on cards (owner_id, mode, agent_id, id);
create index cards_by_status on cards (owner_id, mode, status, id);
create unique index cards_of_intent on cards (owner_id, mode, intent_id)
  where intent_id is not null and status <> 'closed';
create index cards_due on cards (mode, due_at) where due_at is not null;
create index cards_of_tenant_due on cards (owner_id, mode, due_at) where due_at is not null;
create index cards_by_intent on cards (owner_id, mode, intent_id, id) where intent_id is not null;
create index cards_with_a_run on cards (id) where due_at is not null;
create unique index cards_of_request on cards (owner_id, mode, request_id) where request_id is not null;
alter table wallets add foreign key (owner_id, mode, card_id)
  references cards (owner_id, mode, id) deferrable initially deferred;
alter table disputes add foreign key (owner_id, mode, card_id)
  references cards (owner_id, mode, id) deferrable initially deferred;
alter table mpp_credentials add foreign key (owner_id, mode, card_id)
  references cards (owner_id, mode, id) deferrable initially deferred;

-- The limits that spends by card go by.
create table card_terms (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  status text not null check (status in ('pending', 'inactive', 'active', 'frozen', 'closed')),
  intent_id text collate "C",
  max_transaction_cents bigint check (max_transaction_cents >= 0),
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  merchant_allowlist text[] not null,
  merchant_blocklist text[] not null,
  allowed_countries text[] not null,
  allowed_mccs text[] not null,
  blocked_mccs text[] not null,
  mcc_categories text[] not null,
  version integer not null check (version > 0),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
alter table intents add foreign key (owner_id, mode, card_id)
  references card_terms (owner_id, mode, id) deferrable initially deferred;
alter table transactions add foreign key (owner_id, mode, card_id)
  references card_terms (owner_id, mode, id) deferrable initially deferred;
alter table cards add foreign key (owner_id, mode, id)
  references card_terms (owner_id, mode, id) deferrable initially deferred;

-- What is known of a card number beside the number itself.
create table card_numbers (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  card_id text collate "C" not null,
  status text not null check (status in ('current', 'retiring', 'replaced')),
  processor text not null,
  processor_card_id text collate "C" not null,
  brand text not null,
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  exp_month integer not null check (exp_month between 1 and 12),
  exp_year integer not null check (exp_year between 2000 and 2999),
  retires_at timestamptz(3),
  ends_at timestamptz(3) not null,
  processor_state text not null check (processor_state in ('inactive', 'active', 'closed')),
  told_state text check (told_state in ('inactive', 'active', 'closed')),
  told_count integer not null default 0 check (told_count >= 0),
  controls_version integer not null default 1 check (controls_version > 0),
  primary key (owner_id, mode, id),
  check ((status = 'retiring') <= (retires_at is not null)),
  foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred
);
-- Messages of a processor name no owner: the number that they name tells whose they are.
create unique index card_numbers_by_processor on card_numbers (processor_card_id, processor);
create index card_numbers_of_card on card_numbers (owner_id, mode, card_id, id);
alter table cards add foreign key (owner_id, mode, number_id)
  references card_numbers (owner_id, mode, id) deferrable initially deferred;

-- What agents ask of their owner: a card, or other limits of one.
create table card_requests (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  type text not null check (type in ('new_card', 'limit_change')),
  status text not null
    check (status in ('pending', 'approved', 'issued', 'changed', 'denied', 'cancelled', 'expired', 'failed')),
  card_id text collate "C",
  usage text check (usage in ('single', 'multi')),
  display_name text,
  max_transaction_cents bigint check (max_transaction_cents >= 0),
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  controls jsonb,
  reason text not null,
  approved_max_transaction_cents bigint check (approved_max_transaction_cents >= 0),
  approved_daily_limit_cents bigint check (approved_daily_limit_cents >= 0),
  approved_monthly_limit_cents bigint check (approved_monthly_limit_cents >= 0),
  answered_at timestamptz(3),
  answered_by jsonb,
  comment text,
  failure_reason text,
  expires_at timestamptz(3) not null,
  due_at timestamptz(3),
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check ((type = 'new_card') = (usage is not null)),
  check (type = 'new_card' or card_id is not null and display_name is null and controls is null),
  check (status <> 'issued' or type = 'new_card' and card_id is not null),
  check (status <> 'changed' or type = 'limit_change'),
  check (status in ('approved', 'issued', 'changed', 'denied', 'failed') = (answered_at is not null)),
  check ((status = 'failed') = (failure_reason is not null)),
  check (status in ('pending', 'approved') or due_at is null),
  -- An approver lowers what is asked for, and neither raises nor drops it.
  check (status not in ('approved', 'issued', 'changed', 'failed') or (max_transaction_cents is null
    or approved_max_transaction_cents <= max_transaction_cents) is true and (daily_limit_cents is null
    or approved_daily_limit_cents <= daily_limit_cents) is true and (monthly_limit_cents is null
    or approved_monthly_limit_cents <= monthly_limit_cents) is true),
  foreign key (owner_id, mode, agent_id, delegation_id)
    references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred
);
create index card_requests_by_agent on card_requests (owner_id, mode, agent_id, status, id);
create index card_requests_by_status on card_requests (owner_id, mode, status, id);
create index card_requests_by_card on card_requests (owner_id, mode, card_id, id) where card_id is not null;
create index card_requests_by_delegation on card_requests (owner_id, mode, delegation_id, id)
  where delegation_id is not null;
create index card_requests_with_a_run on card_requests (id) where status in ('pending', 'approved');
create index card_requests_due on card_requests (mode, due_at)
  where due_at is not null and status in ('pending', 'approved');
create index card_requests_of_agent on card_requests (owner_id, mode, agent_id, id);
alter table cards add foreign key (owner_id, mode, request_id)
  references card_requests (owner_id, mode, id) deferrable initially deferred;

-- Payments by card.
create table card_authorizations (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  card_id text collate "C",
  processor_ref text collate "C",
  status text not null
    check (status in ('pending', 'declined', 'authorized', 'confirmed', 'cleared', 'reversed', 'expired', 'void',
      'refunded')),
  source text not null check (source in ('intent', 'purse', 'wallet')),
  wallet_id text collate "C" not null,
  intent_id text collate "C",
  network_token_id text collate "C",
  amount_cents bigint not null check (amount_cents >= 0),
  approved_cents bigint not null check (approved_cents >= 0),
  held_cents bigint not null check (held_cents >= 0),
  captured_cents bigint not null check (captured_cents >= 0),
  cleared_cents bigint not null check (cleared_cents >= 0),
  refunded_cents bigint not null check (refunded_cents >= 0),
  merchant text not null,
  merchant_key text collate "C" not null,
  descriptor text not null,
  mcc text,
  country text,
  facts jsonb not null,
  decision jsonb,
  decline_reason text,
  expires_at timestamptz(3),
  transaction_id text collate "C",
  mpp_credential_id text collate "C",
  primary key (owner_id, mode, id),
  constraint card_authorizations_once unique (owner_id, mode, processor_ref),
  constraint card_authorizations_check check ((source = 'intent') <= (intent_id is not null)),
  constraint card_authorizations_named
    check (processor_ref is not null or intent_id is not null or mpp_credential_id is not null),
  constraint card_authorizations_token check (mpp_credential_id is null or network_token_id is not null),
  constraint card_authorizations_check2 check (processor_ref is null or card_id is not null),
  constraint card_authorizations_check3 check (held_cents = 0 or expires_at is not null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, card_id) references card_terms (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred
);
create index card_authorizations_of_card on card_authorizations (owner_id, mode, card_id, id);
create index card_authorizations_of_intent on card_authorizations (owner_id, mode, intent_id)
  where intent_id is not null;
-- A checkout that was confirmed before the network has said anything: its payment is found by the merchant.
create index card_authorizations_awaited on card_authorizations (owner_id, mode, agent_id, merchant_key, id)
  where processor_ref is null and status = 'confirmed';
create index card_authorizations_due on card_authorizations (mode, expires_at) where expires_at is not null;
create unique index card_authorizations_of_mpp on card_authorizations (owner_id, mode, mpp_credential_id)
  where mpp_credential_id is not null;
-- The network names the token alone: the payment that was begun with it is found by that.
create unique index card_authorizations_of_token on card_authorizations (owner_id, mode, network_token_id)
  where mpp_credential_id is not null;
create index card_authorizations_paying on card_authorizations (owner_id, mode, card_id)
  where amount_cents > 0 and status in ('pending', 'authorized', 'confirmed', 'cleared', 'refunded');
-- A dispute finds the payment at the network by its transaction.
create index card_authorizations_of_transaction on card_authorizations (owner_id, mode, transaction_id)
  where transaction_id is not null;
-- Which rule has declined a payment by card.
create index card_authorizations_declined on card_authorizations (owner_id, mode, transaction_id)
  where decline_reason is not null and transaction_id is not null;

-- The messages of the processor that tell of them.
create table card_messages (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text not null,
  card_id text not null,
  authorization_id text collate "C",
  kind text not null,
  digest text not null,
  answer_status integer not null,
  answer_headers jsonb not null,
  answer_body text not null,
  primary key (owner_id, mode, id)
);

-- Single-use tokens by which agents get card data.
create table agent_credentials (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C",
  card_id text collate "C" not null,
  status text not null check (status in ('pending', 'active', 'suspended', 'revoked', 'expired', 'failed')),
  merchant_scope text[] not null check (cardinality(merchant_scope) between 1 and 100),
  amount_limit_cents bigint not null check (amount_limit_cents > 0),
  spent_cents bigint not null check (spent_cents >= 0),
  max_charges integer check (max_charges > 0),
  charges integer not null check (charges >= 0),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  processor text not null,
  token_id text collate "C",
  last4 text check (last4 ~ '^[0-9]{4}$'),
  processor_problem text,
  access_event_id text collate "C" not null,
  key_thumbprint text not null,
  mpp_credential_id text collate "C",
  primary key (owner_id, mode, id),
  check ((token_id is null) = (last4 is null)),
  check (status not in ('active', 'suspended') or token_id is not null),
  check ((status = 'revoked') = (revoked_at is not null)),
  constraint agent_credentials_of_one_payment
    check (mpp_credential_id is null or max_charges = 1 and intent_id is not null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
) with (fillfactor = 70);
create unique index agent_credentials_by_token on agent_credentials (owner_id, mode, token_id)
  where token_id is not null;
create index agent_credentials_by_agent on agent_credentials (owner_id, mode, agent_id, id);
create index agent_credentials_of_card on agent_credentials (owner_id, mode, card_id, id);
create index agent_credentials_by_status on agent_credentials (owner_id, mode, status, id);
create index agent_credentials_due on agent_credentials (mode, expires_at)
  where status in ('pending', 'active', 'suspended');
create unique index agent_credentials_of_mpp on agent_credentials (owner_id, mode, mpp_credential_id)
  where mpp_credential_id is not null;
alter table mpp_credentials add foreign key (owner_id, mode, agent_credential_id)
  references agent_credentials (owner_id, mode, id) deferrable initially deferred;

-- What card data is given for once.
create table credentials (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  card_id text collate "C" not null,
  status text not null check (status in ('issued', 'redeemed', 'revoked', 'expired')),
  expires_at timestamptz(3) not null,
  redeemed_at timestamptz(3),
  revoked_at timestamptz(3),
  access_event_id text collate "C",
  key_thumbprint text,
  primary key (owner_id, mode, id),
  check ((status = 'redeemed') = (redeemed_at is not null)),
  check ((status = 'revoked') = (revoked_at is not null)),
  check (num_nulls(redeemed_at, access_event_id, key_thumbprint) in (0, 3)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
create index credentials_by_agent on credentials (owner_id, mode, agent_id, id);
create index credentials_by_status on credentials (owner_id, mode, status, id);
create index credentials_of_intent on credentials (owner_id, mode, intent_id, id);
create index credentials_due on credentials (mode, expires_at) where status = 'issued';

-- Checkouts that a browser fills with card data.
create table checkout_sessions (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  card_id text collate "C" not null,
  merchant_host text not null,
  status text not null check (status in ('open', 'redeemed', 'expired')),
  hash text not null,
  hint text not null,
  expires_at timestamptz(3) not null,
  redeemed_at timestamptz(3),
  access_event_id text collate "C",
  key_thumbprint text,
  primary key (owner_id, mode, id),
  unique (owner_id, mode, hash),
  check ((status = 'redeemed') = (redeemed_at is not null)),
  check (num_nulls(redeemed_at, access_event_id, key_thumbprint) in (0, 3)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
create index checkout_sessions_by_agent on checkout_sessions (owner_id, mode, agent_id, id);
create index checkout_sessions_by_status on checkout_sessions (owner_id, mode, status, id);
create index checkout_sessions_of_intent on checkout_sessions (owner_id, mode, intent_id, id);
create index checkout_sessions_due on checkout_sessions (mode, expires_at) where status = 'open';

-- Each ask for card data, which nobody can change.
create table access_events (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C",
  delegation_id text collate "C",
  actor_type text not null,
  actor_id text,
  card_id text collate "C",
  intent_id text collate "C",
  purpose text,
  way text not null check (way in ('access', 'session', 'credential', 'agent_credential', 'mpp')),
  source_id text collate "C",
  decision text not null check (decision in ('granted', 'denied')),
  reasons jsonb not null check (jsonb_typeof(reasons) = 'array'),
  merchant_host text,
  key_thumbprint text,
  address text,
  request_id text not null,
  primary key (owner_id, mode, id),
  check ((decision = 'granted') = (jsonb_array_length(reasons) = 0)),
  check (decision = 'denied' or card_id is not null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
create index access_events_of_card on access_events (owner_id, mode, card_id, id);
create index access_events_of_agent on access_events (owner_id, mode, agent_id, id);
create index access_events_of_delegation on access_events (owner_id, mode, delegation_id, id)
  where delegation_id is not null;
create index access_events_of_intent on access_events (owner_id, mode, intent_id, id) where intent_id is not null;
create index access_events_denied on access_events (owner_id, mode, id) where decision = 'denied';
revoke update, delete on access_events from agentpay_application;
alter table agent_credentials add foreign key (owner_id, mode, access_event_id)
  references access_events (owner_id, mode, id) deferrable initially deferred;
alter table credentials add foreign key (owner_id, mode, access_event_id)
  references access_events (owner_id, mode, id) deferrable initially deferred;
alter table checkout_sessions add foreign key (owner_id, mode, access_event_id)
  references access_events (owner_id, mode, id) deferrable initially deferred;

-- Whether what was granted was also given is known only after the processor has answered.
create table access_outcomes (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  outcome text not null check (outcome in ('disclosed', 'failed')),
  code text,
  message text,
  primary key (owner_id, mode, id),
  check ((outcome = 'failed') = (code is not null)),
  check ((outcome = 'failed') = (message is not null)),
  foreign key (owner_id, mode, id) references access_events (owner_id, mode, id) deferrable initially deferred
);
revoke update, delete on access_outcomes from agentpay_application;

-- The keys that card data is encrypted to.
create table filler_keys (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  label text not null,
  thumbprint text collate "C" not null check (thumbprint ~ '^[A-Za-z0-9_-]{43}$'),
  alg text not null check (alg in ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
  public_key_jwk jsonb not null check (not public_key_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']),
  primary key (owner_id, mode, id),
  unique (owner_id, mode, thumbprint)
);
