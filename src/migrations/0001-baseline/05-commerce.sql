-- Area: commerce. Payments of every kind, what comes back of them, and what proves them.

-- Money that has left, or was refused to leave: one record, whatever paid.
create table transactions (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text,
  intent_id text,
  card_id text,
  transfer_id text,
  wallet_id text not null,
  run_id text,
  type text not null check (type in ('card', 'mpp', 'transfer', 'collect', 'refund', 'fee')),
  status text not null
    check (status in ('authorization', 'settlement', 'settled', 'completed', 'declined', 'refunded')),
  currency text not null check (currency = 'EUR'),
  amount_cents bigint not null check (amount_cents > 0),
  refunded_cents bigint not null,
  merchant text not null,
  mcc text,
  country text,
  memo text,
  decline_reason text,
  witnesses jsonb not null,
  -- What of a payment is disputed, or was given back by a dispute: it cannot be refunded as well.
  disputed_cents bigint not null default 0 check (disputed_cents >= 0),
  primary key (owner_id, mode, id),
  check (refunded_cents between 0 and amount_cents),
  check ((status = 'declined') = (decline_reason is not null)),
  check ((status = 'refunded') = (refunded_cents = amount_cents)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id, run_id)
    references runs (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
create unique index transactions_of_transfer on transactions (owner_id, mode, transfer_id)
  where transfer_id is not null;
create index transactions_by_agent on transactions (owner_id, mode, agent_id, id) where agent_id is not null;
create index transactions_by_wallet on transactions (owner_id, mode, wallet_id, id);
create index transactions_by_status on transactions (owner_id, mode, status, id);
create index transactions_by_folded_merchant on transactions (owner_id, mode, lower((merchant collate pg_c_utf8)), id);
create index transactions_by_run on transactions (owner_id, mode, run_id, id) where run_id is not null;
create unique index transactions_of_intent on transactions (owner_id, mode, intent_id)
  where intent_id is not null and status <> 'declined';
alter table intents add foreign key (owner_id, mode, transaction_id)
  references transactions (owner_id, mode, id) deferrable initially deferred;

-- Money that an owner moves.
create table transfers (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  from_wallet_id text not null,
  to_wallet_id text,
  kind text not null,
  amount_cents bigint not null check (amount_cents > 0),
  parts jsonb,
  reference text,
  status text not null,
  completed_at timestamptz(3),
  agent_id text,
  beneficiary_id text,
  intent_id text,
  scheme text,
  end_to_end_id text check (end_to_end_id ~ '^[A-Za-z0-9]{1,35}$'),
  payee jsonb,
  payee_check jsonb check (payee_check ? 'result' and payee_check ? 'at'),
  payee_confirmed_at timestamptz(3),
  reason jsonb check (reason ? 'code' and reason ? 'message'),
  recall jsonb check (recall ? 'status' and recall ? 'at'),
  counted_on date,
  submitted_at timestamptz(3),
  acknowledged_at timestamptz(3),
  inquiries integer not null default 0 check (inquiries >= 0),
  due_at timestamptz(3),
  transaction_id text,
  workflow_id text,
  token_id text,
  delegation_id text,
  credit_id text collate "C",
  primary key (owner_id, mode, id),
  constraint transfers_check1 check ((kind = 'split') = (parts is not null)),
  constraint transfers_check2 check (from_wallet_id <> to_wallet_id),
  constraint transfers_completed check ((completed_at is not null) = (status = 'completed' or status = 'returned')),
  constraint transfers_looked_after
    check (due_at is not null or not (status = 'created' or status = 'verifying' or status = 'submitted')),
  constraint transfers_payee
    check ( case when kind = 'internal' then num_nonnulls(to_wallet_id, credit_id) > 0 else to_wallet_id is null
      and credit_id is null end),
  constraint transfers_sepa
    check ( case when kind = 'sepa' then scheme is not null and end_to_end_id is not null and payee is not null
      and workflow_id is not null and counted_on is not null
      and reference ~ '^[A-Za-z0-9/?:().,''+ -]{1,140}$' is not false else beneficiary_id is null and scheme is null
      and end_to_end_id is null and payee is null and counted_on is null and submitted_at is null and due_at is null
      and recall is null and status = 'completed' end),
  constraint transfers_submitted
    check (kind <> 'sepa' or (submitted_at is null) = (status = 'created' or status = 'verifying'
      or status = 'cancelled')),
  constraint transfers_kind check (kind in ('internal', 'sepa', 'split')),
  constraint transfers_scheme check (scheme = 'sct' or scheme = 'sct_inst'),
  constraint transfers_status
    check (status in ('created', 'verifying', 'submitted', 'completed', 'rejected', 'cancelled', 'returned')),
  foreign key (owner_id, mode, beneficiary_id)
    references beneficiaries (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, credit_id) references incoming_credits (owner_id, mode, id)
    deferrable initially deferred,
  foreign key (owner_id, mode, from_wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, to_wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred
);
create index transfers_by_payer on transfers (owner_id, mode, from_wallet_id, id);
create index transfers_by_payee on transfers (owner_id, mode, to_wallet_id, id) where to_wallet_id is not null;
create unique index transfers_by_end_to_end_id on transfers (end_to_end_id) where end_to_end_id is not null;
create index transfers_by_beneficiary on transfers (owner_id, mode, beneficiary_id, id)
  where beneficiary_id is not null;
create index transfers_by_deadline on transfers (mode, due_at) where due_at is not null;
create unique index transfers_of_intent on transfers (owner_id, mode, intent_id)
  where intent_id is not null and status <> 'cancelled';
create index transfers_by_token on transfers (owner_id, mode, token_id) where token_id is not null;
create index transfers_by_agent on transfers (owner_id, mode, agent_id, id) where agent_id is not null;
create index transfers_by_intent on transfers (owner_id, mode, intent_id, id) where intent_id is not null;
create index transfers_not_left on transfers (owner_id, mode, id)
  where kind = 'sepa' and status in ('created', 'verifying');
create index transfers_with_a_run on transfers (id) where due_at is not null and workflow_id is not null;
create index transfers_payee_to_confirm on transfers (owner_id, mode, id)
  where payee_confirmed_at is null and status in ('verifying', 'submitted')
  and (payee_check ->> 'result' in ('close_match', 'no_match') or payee_check ->> 'result' = 'not_possible'
  and payee_check ->> 'code' is not null);
alter table transactions add foreign key (owner_id, mode, transfer_id)
  references transfers (owner_id, mode, id) deferrable initially deferred;

-- What an owner may pay by SEPA, where it is not what the plan says.
create table transfer_limits (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  single_cents bigint check (single_cents >= 0),
  daily_cents bigint check (daily_cents >= 0),
  updated_at timestamptz(3) not null,
  primary key (owner_id, mode)
);

-- What has been taken of a day's limit.
create table transfer_days (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  day date not null,
  used_cents bigint not null check (used_cents >= 0),
  primary key (owner_id, mode, day)
);

-- The files that go to the bank, one a cut-off.
create table sepa_files (
  id text collate "C" primary key,
  owner_id text not null references customers (id),
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  scheme text not null check (scheme = 'sct' or scheme = 'sct_inst'),
  closes_at timestamptz(3) not null,
  execute_on date not null,
  status text not null check (status in ('open', 'made', 'staged', 'handed_over', 'empty')),
  message_id text not null unique check (message_id ~ '^[A-Za-z0-9]{1,35}$'),
  payments integer not null check (payments >= 0),
  total_cents bigint not null check (total_cents >= 0),
  content text,
  sha256 text,
  made_at timestamptz(3),
  handed_over_at timestamptz(3),
  due_at timestamptz(3),
  -- One file a cut-off.
  unique (mode, scheme, closes_at),
  check ((status = 'made' or status = 'staged' or status = 'handed_over') = (content is not null
    and sha256 is not null and made_at is not null)),
  check ((status = 'handed_over') = (handed_over_at is not null)),
  check ((status = 'open' or status = 'made' or status = 'staged') = (due_at is not null))
);
create index sepa_files_by_tenant on sepa_files (owner_id, mode, id);
create index sepa_files_by_deadline on sepa_files (mode, due_at) where due_at is not null;

-- What was ordered by which file.
create table sepa_instructions (
  -- The transfer: ordered once.
  id text collate "C" not null,
  file_id text not null references sepa_files (id),
  created_at timestamptz(3) not null,
  end_to_end_id text not null unique,
  amount_cents bigint not null check (amount_cents > 0),
  payee jsonb not null,
  reference text,
  taken_out_at timestamptz(3),
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, id) references transfers (owner_id, mode, id)
);
create index sepa_instructions_by_file on sepa_instructions (file_id, id);
create unique index sepa_instructions_by_id on sepa_instructions (id);

-- The bank's own files.
create table sepa_messages (
  id text collate "C" primary key,
  owner_id text not null references customers (id),
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  sha256 text not null,
  kind text not null check (kind in ('pain.002', 'camt.053', 'camt.054')),
  message_id text not null,
  payments jsonb not null,
  credits jsonb,
  unique (owner_id, mode, sha256)
);
create index sepa_messages_by_tenant on sepa_messages (owner_id, mode, id);

-- What the bank's files have told of a payment.
create table sepa_notices (
  id text collate "C" not null,
  owner_id text not null references customers (id),
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  message_id text not null references sepa_messages (id),
  transfer_id text not null,
  notice text not null check (notice in ('settled', 'rejected', 'returned', 'payee_checked')),
  reason_code text,
  status text not null check (status in ('waiting', 'told')),
  due_at timestamptz(3),
  payee_check jsonb,
  primary key (owner_id, mode, id),
  check ((status = 'waiting') = (due_at is not null)),
  constraint sepa_notices_payee_check check (payee_check is null or notice = 'payee_checked'),
  foreign key (owner_id, mode, transfer_id) references transfers (owner_id, mode, id)
);
create index sepa_notices_by_message on sepa_notices (message_id, id);
create index sepa_notices_by_deadline on sepa_notices (mode, due_at) where due_at is not null;

-- Money that comes back of a payment: what was asked for, and what has come by itself.
create table refunds (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Null where no payment is known of which it comes back.
  transaction_id text collate "C",
  agent_id text collate "C",
  -- Where the money is, once it has come to a wallet of the owner.
  wallet_id text collate "C",
  status text not null check (status in ('pending', 'completed', 'failed', 'cancelled')),
  origin text not null check (origin in ('asked', 'network', 'bank', 'payee')),
  way text not null check (way in ('wallet', 'card', 'sepa')),
  amount_cents bigint not null check (amount_cents > 0),
  arrived_cents bigint not null,
  reason text check (reason in ('duplicate', 'fraudulent', 'requested', 'not_delivered', 'other')),
  note text,
  failure jsonb check (failure ? 'code' and failure ? 'message'),
  source_type text,
  source_id text collate "C",
  attempts integer not null check (attempts >= 0),
  due_at timestamptz(3),
  completed_at timestamptz(3),
  workflow_id text,
  -- When the processor is asked next to ask the merchant; null where nothing is left to ask.
  ask_due_at timestamptz(3),
  -- When the processor has taken it to the merchant.
  merchant_asked_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (arrived_cents between 0 and amount_cents),
  check (status <> 'completed' or arrived_cents = amount_cents),
  check (completed_at is null or status in ('completed', 'failed')),
  check (status <> 'completed' or completed_at is not null),
  check ((status = 'failed') = (failure is not null)),
  check (status = 'pending' or due_at is null),
  check ((source_type is null) = (source_id is null)),
  check (origin <> 'asked' or transaction_id is not null and reason is not null),
  check (origin = 'asked' or status in ('completed', 'failed')),
  check (ask_due_at is null or status = 'pending' and way = 'card' and workflow_id is not null),
  check (ask_due_at is null or merchant_asked_at is null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
create index refunds_of_transaction on refunds (owner_id, mode, transaction_id, id) where transaction_id is not null;
create index refunds_awaited on refunds (owner_id, mode, transaction_id, id) where status = 'pending';
create index refunds_by_status on refunds (owner_id, mode, status, id);
create index refunds_by_agent on refunds (owner_id, mode, agent_id, id) where agent_id is not null;
create index refunds_by_source on refunds (owner_id, mode, source_type, source_id, id) where source_id is not null;
create index refunds_with_a_run on refunds (id) where status = 'pending' and workflow_id is not null;
create index refunds_due on refunds (mode, due_at) where due_at is not null and status = 'pending';
create index refunds_to_ask on refunds (mode, ask_due_at) where ask_due_at is not null and status = 'pending';

-- Payments by card that the owner does not accept.
create table disputes (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C",
  transaction_id text collate "C" not null,
  card_id text collate "C",
  wallet_id text collate "C" not null,
  merchant text not null,
  reason text not null
    check (reason in ('unauthorized', 'fraud', 'not_received', 'not_as_described', 'duplicate', 'incorrect_amount',
      'cancelled', 'credit_not_processed')),
  description text not null,
  status text not null check (status in ('open', 'submitted', 'won', 'lost', 'withdrawn', 'lapsed')),
  amount_cents bigint not null check (amount_cents > 0),
  refunded_before_cents bigint not null check (refunded_before_cents >= 0),
  refunded_cents bigint not null,
  -- What the merchant has refunded and what is credited are never more than what is disputed.
  credited_cents bigint not null,
  recovered_cents bigint not null check (recovered_cents >= 0),
  lost_cents bigint not null,
  counted_cents bigint not null,
  credited_wallet_id text collate "C",
  postings integer not null check (postings >= 0),
  words jsonb not null check (jsonb_typeof(words) = 'array'),
  finding jsonb check (finding ? 'finding' and finding ? 'reasons' and finding ? 'at'),
  evidence_ids text[] not null check (cardinality(evidence_ids) <= 50),
  card_frozen boolean not null,
  resolution text,
  resolved_at timestamptz(3),
  credit_due_at timestamptz(3),
  credited_at timestamptz(3),
  evidence_due_at timestamptz(3),
  remind_at timestamptz(3),
  submitted_at timestamptz(3),
  processor text not null,
  processor_dispute_id text collate "C",
  documented_at timestamptz(3),
  filed_at timestamptz(3),
  told_withdrawn_at timestamptz(3),
  processor_problem text,
  attempts integer not null check (attempts >= 0),
  call_due_at timestamptz(3),
  due_at timestamptz(3),
  workflow_id text not null,
  delegation_id text collate "C",
  primary key (owner_id, mode, id),
  check (refunded_cents between 0 and amount_cents),
  check (credited_cents between 0 and amount_cents - refunded_cents),
  check (lost_cents between 0 and credited_cents),
  check (counted_cents between 0 and amount_cents - refunded_cents),
  check (status = 'open' or evidence_due_at is null and remind_at is null),
  check (status <> 'open' or submitted_at is null),
  check (status <> 'submitted' or submitted_at is not null),
  check (status in ('open', 'submitted') or resolved_at is not null and resolution is not null),
  check ((due_at is null) = (coalesce(call_due_at, credit_due_at, evidence_due_at, remind_at) is null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, credited_wallet_id)
    references wallets (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
-- The operator names a dispute by its id alone.
create unique index disputes_by_id on disputes (id);
create unique index disputes_one_undecided on disputes (owner_id, mode, transaction_id)
  where status in ('open', 'submitted');
create index disputes_by_transaction on disputes (owner_id, mode, transaction_id, id);
create index disputes_by_status on disputes (owner_id, mode, status, id);
create index disputes_by_agent on disputes (owner_id, mode, agent_id, id) where agent_id is not null;
create index disputes_by_card on disputes (owner_id, mode, card_id, id) where card_id is not null;
create index disputes_with_a_run on disputes (id) where status in ('open', 'submitted') or call_due_at is not null;
create index disputes_due on disputes (mode, due_at)
  where due_at is not null and (status in ('open', 'submitted') or call_due_at is not null);
create index disputes_by_merchant on disputes (owner_id, mode, merchant, id);

-- What agents and owners keep to prove a payment. The role of the programs can add to it and change nothing.
create table evidence (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  type text not null check (type in ('receipt', 'screenshot', 'invoice', 'confirmation', 'other')),
  note text check (char_length(note) between 1 and 1000),
  text text check (char_length(text) between 1 and 20000),
  file_name text check (char_length(file_name) between 1 and 120),
  media_type text not null,
  bytes integer not null check (bytes > 0),
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  received_at timestamptz(3) not null,
  -- Of a file, the picture that was made anew of it. What came before is looked at where it is shown.
  view_sha256 text collate "C" check (view_sha256 ~ '^[0-9a-f]{64}$'),
  primary key (owner_id, mode, id),
  -- A text is in the row, any other content in a file.
  check ((media_type = 'text/plain') = (text is not null)),
  check (text is null or file_name is null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
create index evidence_of_intent on evidence (owner_id, mode, intent_id, id);
create index evidence_by_agent on evidence (owner_id, mode, agent_id, id);
revoke update, delete on evidence from agentpay_application;

-- The papers of payments.
create table receipts (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C",
  delegation_id text collate "C",
  transaction_id text collate "C",
  intent_id text collate "C",
  status text not null check (status in ('unread', 'unmatched', 'suggested', 'matched', 'mismatch')),
  matched_by text check (matched_by in ('caller', 'text')),
  score integer check (score between 0 and 100),
  reasons text[] not null,
  suggestions jsonb not null,
  facts jsonb,
  file_name text check (char_length(file_name) between 1 and 120),
  media_type text not null check (media_type in ('application/pdf', 'image/jpeg', 'image/png', 'image/webp')),
  bytes integer not null check (bytes > 0),
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  pages integer check (pages > 0),
  notes text[] not null check (notes <@ '{encrypted,scripts,attachments}'::text[]),
  is_plain boolean not null,
  small_sha256 text collate "C" not null check (small_sha256 ~ '^[0-9a-f]{64}$'),
  large_sha256 text collate "C" not null check (large_sha256 ~ '^[0-9a-f]{64}$'),
  received_at timestamptz(3) not null,
  -- The first lines of its text, and when they are compared again with what was paid by then.
  head text not null check (char_length(head) <= 4000),
  look_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (status in ('matched', 'mismatch') = (transaction_id is not null)),
  check ((matched_by is null) = (transaction_id is null)),
  check (intent_id is null or transaction_id is not null),
  check (look_at is null or transaction_id is null),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred
);
create index receipts_of_transaction on receipts (owner_id, mode, transaction_id, id);
create index receipts_of_intent on receipts (owner_id, mode, intent_id, id) where intent_id is not null;
create index receipts_by_agent on receipts (owner_id, mode, agent_id, id);
create index receipts_by_status on receipts (owner_id, mode, status, id);
create index receipts_due on receipts (mode, look_at) where look_at is not null;
create index receipts_by_vat_number on receipts (owner_id, mode, ((facts ->> 'vatNumber')), id)
  where status = 'matched' and facts ->> 'total' is not null;

-- Requests for money.
create table payment_requests (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C",
  delegation_id text collate "C",
  wallet_id text collate "C" not null,
  amount_cents bigint not null check (amount_cents > 0),
  description text not null,
  payer_name text,
  payer_email text,
  metadata jsonb not null,
  unlocks jsonb check (jsonb_typeof(unlocks) = 'object'),
  reference text not null,
  status text not null check (status in ('open', 'paid', 'expired', 'cancelled', 'refunded')),
  paid_cents bigint not null,
  surplus_cents bigint not null check (surplus_cents >= 0),
  refunded_cents bigint not null check (refunded_cents >= 0),
  refunding_cents bigint not null check (refunding_cents >= 0),
  paid_by text check (paid_by in ('sepa', 'card', 'wallet')),
  paid_at timestamptz(3),
  expires_at timestamptz(3) not null,
  due_at timestamptz(3),
  comment text,
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check (paid_cents between 0 and amount_cents),
  -- Never more goes back than has come.
  check (refunded_cents + refunding_cents <= paid_cents + surplus_cents),
  check (status in ('paid', 'refunded') = (paid_cents = amount_cents)),
  check (status in ('paid', 'refunded') = (paid_at is not null)),
  check ((paid_by is null) = (paid_at is null)),
  check (status = 'open' or due_at is null),
  check (delegation_id is null or agent_id is not null),
  foreign key (owner_id, mode, agent_id, delegation_id)
    references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
-- Payers name a request by its id alone.
create unique index payment_requests_by_id on payment_requests (id);
create unique index payment_requests_by_reference on payment_requests (owner_id, mode, reference);
create index payment_requests_by_status on payment_requests (owner_id, mode, status, id);
create index payment_requests_by_wallet on payment_requests (owner_id, mode, wallet_id, id);
create index payment_requests_open_by_wallet on payment_requests (owner_id, mode, wallet_id, id) where status = 'open';
create index payment_requests_by_agent on payment_requests (owner_id, mode, agent_id, id) where agent_id is not null;
create index payment_requests_by_delegation on payment_requests (owner_id, mode, delegation_id, id)
  where delegation_id is not null;
create index payment_requests_with_a_run on payment_requests (id) where status = 'open' or refunding_cents > 0;
create index payment_requests_due on payment_requests (mode, due_at) where due_at is not null and status = 'open';

-- What an agent hands to a recipient, who charges it once.
create table payment_tokens (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  amount_cents bigint not null check (amount_cents > 0),
  -- A wallet of any owner, whose rows may lie elsewhere one day.
  recipient_wallet_id text collate "C" not null,
  recipient_owner_id text collate "C" not null,
  recipient_name text not null,
  status text not null check (status in ('waiting', 'active', 'charged', 'denied', 'revoked', 'expired')),
  hash text not null,
  hint text not null,
  expires_at timestamptz(3) not null,
  charge_id text collate "C",
  charged_cents bigint,
  charged_at timestamptz(3),
  transaction_id text collate "C",
  primary key (owner_id, mode, id),
  unique (owner_id, mode, intent_id),
  check (charged_cents between 1 and amount_cents),
  check ((status = 'charged') = (charged_at is not null)),
  check (num_nulls(charge_id, charged_cents, charged_at, transaction_id) in (0, 4)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred
);
-- Who charges a token is another owner, and shows the secret alone.
create unique index payment_tokens_by_hash on payment_tokens (hash);
create index payment_tokens_by_agent on payment_tokens (owner_id, mode, agent_id, id);
create index payment_tokens_by_status on payment_tokens (owner_id, mode, status, id);
create index payment_tokens_by_wallet on payment_tokens (owner_id, mode, recipient_wallet_id, id);
alter table intents add foreign key (owner_id, mode, payment_token_id)
  references payment_tokens (owner_id, mode, id) deferrable initially deferred;

-- The payments on a request.
create table request_payments (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  request_id text collate "C" not null,
  way text not null check (way in ('sepa', 'card', 'wallet')),
  status text not null check (status in ('under_way', 'received', 'failed')),
  amount_cents bigint not null check (amount_cents > 0),
  counted_cents bigint not null,
  surplus_reason text check (surplus_reason in ('above_amount', 'already_paid', 'expired', 'cancelled')),
  refunded_cents bigint not null,
  wallet_id text collate "C" not null,
  source_id text collate "C" not null,
  charge jsonb,
  transaction_id text collate "C",
  received_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (counted_cents between 0 and amount_cents),
  check (refunded_cents between 0 and amount_cents),
  check ((status = 'received') = (received_at is not null)),
  check (status = 'received' or counted_cents = 0 and refunded_cents = 0 and surplus_reason is null),
  check (status <> 'received' or (surplus_reason is null) = (counted_cents = amount_cents)),
  foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
    deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
-- What has come counts once, for one request.
create unique index request_payments_by_source on request_payments (owner_id, mode, source_id);
create unique index request_payments_under_way on request_payments (owner_id, mode, request_id)
  where status = 'under_way';
create index request_payments_of_request on request_payments (owner_id, mode, request_id, id);

-- What goes back of them.
create table request_refunds (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  request_id text collate "C" not null,
  payment_id text collate "C" not null,
  way text not null check (way in ('sepa', 'card', 'wallet')),
  status text not null check (status in ('pending', 'completed', 'failed', 'returned')),
  amount_cents bigint not null check (amount_cents > 0),
  reason text,
  failure jsonb check (failure ? 'code' and failure ? 'message'),
  transfer_id text collate "C",
  attempts integer not null check (attempts >= 0),
  due_at timestamptz(3),
  completed_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (status = 'pending' or due_at is null),
  check (status in ('completed', 'returned') = (completed_at is not null)),
  check (status in ('failed', 'returned') = (failure is not null)),
  foreign key (owner_id, mode, payment_id) references request_payments (owner_id, mode, id)
    deferrable initially deferred,
  foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
    deferrable initially deferred,
  foreign key (owner_id, mode, transfer_id) references transfers (owner_id, mode, id) deferrable initially deferred
);
create index request_refunds_of_request on request_refunds (owner_id, mode, request_id, id);
create unique index request_refunds_by_transfer on request_refunds (owner_id, mode, transfer_id)
  where transfer_id is not null;
create index request_refunds_due on request_refunds (mode, due_at) where due_at is not null and status = 'pending';

-- The keys that machine payments are encrypted to.
create table mpp_keys (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  kid text collate "C" not null check (kid ~ '^[A-Za-z0-9_-]{43}$'),
  modulus text not null check (length(modulus) = 342 and modulus ~ '^[A-Za-z0-9_-]+$'),
  secret text,
  private_key text,
  retired_at timestamptz(3),
  ends_at timestamptz(3),
  primary key (owner_id, mode, id),
  unique (owner_id, mode, kid),
  check ((retired_at is null) = (ends_at is null)),
  check (ends_at > retired_at),
  check ((secret is null) = (private_key is null)),
  -- Only a key that is retired has no private half any more.
  check (secret is not null or retired_at is not null)
);
create unique index mpp_keys_current on mpp_keys (owner_id, mode) where retired_at is null;
create index mpp_keys_due on mpp_keys (mode, ends_at) where ends_at is not null and secret is not null;

-- The credentials of machine payments.
create table mpp_credentials (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  card_id text collate "C" not null,
  agent_credential_id text collate "C" not null,
  status text not null check (status in ('minted', 'sent', 'indeterminate', 'consumed', 'void')),
  sent_by text not null check (sent_by in ('service', 'caller')),
  merchant text not null,
  merchant_name text,
  url text not null,
  method text not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  amount_cents bigint not null check (amount_cents > 0),
  network text not null,
  challenge_id text not null,
  challenge jsonb not null,
  request_digest text not null,
  credential_digest text not null,
  merchant_status integer check (merchant_status between 100 and 999),
  receipt text,
  note text,
  outcome_by text check (outcome_by in ('merchant', 'network', 'key', 'operator', 'deadline')),
  declined_at timestamptz(3),
  asked_at timestamptz(3) not null,
  sent_at timestamptz(3),
  answered_at timestamptz(3),
  ended_at timestamptz(3),
  due_at timestamptz(3),
  transaction_id text collate "C",
  workflow_id text,
  primary key (owner_id, mode, id),
  -- What the service sends is sent with its minting; what a caller sends, the service never does.
  check ((sent_by = 'service') = (sent_at is not null)),
  check (status <> 'minted' or sent_by = 'caller'),
  check (status not in ('sent', 'indeterminate') or sent_by = 'service'),
  check (status in ('consumed', 'void') = (ended_at is not null and outcome_by is not null)),
  check (status <> 'consumed' or transaction_id is not null),
  check (status not in ('minted', 'sent', 'indeterminate') or due_at is not null),
  check (receipt is null or merchant_status between 200 and 299),
  foreign key (owner_id, mode, agent_id, delegation_id)
    references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, transaction_id)
    references transactions (owner_id, mode, id) deferrable initially deferred
);
create unique index mpp_credentials_by_digest on mpp_credentials (owner_id, mode, credential_digest);
create index mpp_credentials_by_agent on mpp_credentials (owner_id, mode, agent_id, id);
create index mpp_credentials_by_status on mpp_credentials (owner_id, mode, status, id);
create index mpp_credentials_of_intent on mpp_credentials (owner_id, mode, intent_id, id);
create index mpp_credentials_of_card on mpp_credentials (owner_id, mode, card_id, id);
create index mpp_credentials_by_delegation on mpp_credentials (owner_id, mode, delegation_id, id)
  where delegation_id is not null;
create index mpp_credentials_with_a_run on mpp_credentials (id) where workflow_id is not null and due_at is not null;
create index mpp_credentials_due on mpp_credentials (mode, due_at) where due_at is not null;

-- Machine payments that were received: the charges of the cards that pay them.
create table mpp_settlements (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  request_id text collate "C",
  agent_id text collate "C",
  wallet_id text collate "C",
  scenario text,
  challenge_id text collate "C" not null check (challenge_id ~ '^[A-Za-z0-9_-]{43}$'),
  credential_digest text not null check (credential_digest ~ '^[A-Za-z0-9_-]{43}$'),
  amount_cents bigint not null check (amount_cents > 0),
  network text not null,
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  status text not null check (status in ('charging', 'paid', 'declined')),
  handle text not null,
  descriptor text not null,
  decline_code text,
  decline_reason text,
  receipt text,
  settled_at timestamptz(3),
  attempts integer not null check (attempts >= 0),
  due_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((request_id is null) = (wallet_id is null)),
  check ((request_id is null) <> (scenario is null)),
  check ((status = 'paid') = (settled_at is not null)),
  check ((status = 'paid') = (receipt is not null)),
  check ((status = 'declined') = (decline_reason is not null)),
  check ((decline_code is null) = (decline_reason is null)),
  -- Until the outcome is known, there is always an instant at which it is asked for.
  check ((status = 'charging') = (due_at is not null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
    deferrable initially deferred,
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
-- A challenge is paid once, however often and by whomever it is presented.
create unique index mpp_settlements_by_challenge on mpp_settlements (owner_id, mode, challenge_id);
create index mpp_settlements_of_request on mpp_settlements (owner_id, mode, request_id, id);
create index mpp_settlements_by_status on mpp_settlements (owner_id, mode, status, id);
create index mpp_settlements_by_agent on mpp_settlements (owner_id, mode, agent_id, id) where agent_id is not null;
create index mpp_settlements_due on mpp_settlements (mode, due_at) where status = 'charging';

-- Whom machine payments may go to.
create table mpp_protect_rules (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  type text not null check (type in ('allow', 'deny')),
  merchant text not null,
  pattern text not null check (pattern <> ''),
  agent_id text collate "C",
  reason text,
  primary key (owner_id, mode, id),
  unique nulls not distinct (owner_id, mode, type, pattern, agent_id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index mpp_protect_rules_by_type on mpp_protect_rules (owner_id, mode, type, id);
create index mpp_protect_rules_by_agent on mpp_protect_rules (owner_id, mode, agent_id, id) where agent_id is not null;
