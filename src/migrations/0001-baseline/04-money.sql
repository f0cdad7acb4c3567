-- Area: money. The ledger, the wallets over it, and how money comes in.

-- From them the virtual IBANs of wallets are made.
create sequence wallet_numbers;
-- From them the references are made by which money that comes in is matched.
create sequence payment_reference_numbers;

-- Double entry, one ledger for each owner, mode and currency. Credits are positive, debits negative, and the entries of a
-- transfer sum to zero. Each change of an account, a hold too, is one entry that carries what stood after it.
-- The only way into it is ledger_post.
create table ledger_accounts (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  currency text not null check (currency = 'EUR'),
  kind text not null,
  normal text not null check (normal in ('debit', 'credit')),
  minimum_cents bigint,
  wallet_id text,
  posted_cents bigint not null default 0,
  held_cents bigint not null default 0,
  version bigint not null default 0,
  closed_at timestamptz(3),
  frozen boolean not null default false,
  primary key (owner_id, mode, id),
  unique nulls not distinct (owner_id, mode, currency, kind, wallet_id),
  check ((kind = 'wallet') = (wallet_id is not null)),
  constraint ledger_closed_is_empty check (closed_at is null or posted_cents = 0 and held_cents = 0),
  constraint ledger_minimum
    check (minimum_cents is null
      or  case normal when 'credit' then posted_cents else - posted_cents end - held_cents >= minimum_cents),
  constraint ledger_no_negative_hold check (held_cents >= 0)
) with (fillfactor = 50);
create index ledger_accounts_by_wallet on ledger_accounts (owner_id, mode, wallet_id) where wallet_id is not null;
create unique index ledger_accounts_of_wallets on ledger_accounts (id) where kind = 'wallet';
-- One for each owner. No condition on the money: that would index every change of any balance anew.
create index ledger_accounts_in_suspense on ledger_accounts (id) where kind = 'suspense';
revoke insert, update, delete on ledger_accounts from agentpay_application;
grant insert (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id),
  update (closed_at, frozen) on ledger_accounts to agentpay_application;

-- What was booked, and for which record.
create table ledger_transfers (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  currency text not null check (currency = 'EUR'),
  kind text not null,
  reference_type text not null,
  reference_id text not null,
  booked_at timestamptz(3) not null,
  value_date date not null,
  primary key (owner_id, mode, id),
  constraint ledger_transfers_once unique (owner_id, mode, reference_id, reference_type, kind)
);
create index ledger_transfers_suspense_payouts on ledger_transfers (reference_id, mode) where kind = 'suspense_payout';
revoke insert, update, delete on ledger_transfers from agentpay_application;

-- Money that is set aside, and how much of it still is.
create table ledger_holds (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null,
  account_id text not null,
  reference_type text not null,
  reference_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  remaining_cents bigint not null,
  captured_cents bigint not null default 0,
  opened_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (owner_id, mode, id),
  constraint ledger_holds_once unique (owner_id, mode, reference_type, reference_id),
  constraint ledger_hold_is_not_overdrawn check (remaining_cents between 0 and amount_cents),
  check (captured_cents between 0 and amount_cents - remaining_cents),
  check ((remaining_cents = 0) = (ended_at is not null)),
  foreign key (owner_id, mode, account_id) references ledger_accounts (owner_id, mode, id)
) with (fillfactor = 70);
create index ledger_holds_open on ledger_holds (account_id) where ended_at is null;
revoke insert, update, delete on ledger_holds from agentpay_application;

-- One change of one account each; ledger_entries_hold_true makes sure that they are true.
create table ledger_entries (
  account_id text collate "C" not null,
  version bigint not null check (version > 0),
  owner_id text not null,
  mode text not null,
  transfer_id text collate "C" not null,
  amount_cents bigint not null,
  hold_id text,
  hold_cents bigint not null,
  balance_after_cents bigint not null,
  held_after_cents bigint not null,
  booked_at timestamptz(3) not null,
  primary key (account_id, version),
  check (amount_cents <> 0 or hold_cents <> 0),
  check ((hold_id is null) = (hold_cents = 0))
);
create index ledger_entries_by_transfer on ledger_entries (owner_id, mode, transfer_id);
create index ledger_entries_by_time on ledger_entries (account_id, booked_at, version);
revoke insert, update, delete on ledger_entries from agentpay_application;

-- What an owner sees of the ledger's accounts.
create table wallets (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null,
  kind text not null,
  parent_wallet_id text,
  agent_id text,
  iban text unique,
  bic text,
  currency text not null check (currency = 'EUR'),
  status text not null check (status in ('active', 'frozen', 'closed')),
  metadata jsonb not null,
  -- Drawn here, and entered into the register with the wallet: wallet_takes_reference.
  reference_number bigint not null default nextval('payment_reference_numbers') unique,
  card_id text collate "C",
  primary key (owner_id, mode, id),
  check ((kind = 'agent') = (agent_id is not null)),
  check ((iban is null) = (bic is null)),
  check (id <> parent_wallet_id),
  check ((kind = 'card') = (card_id is not null)),
  check (kind <> 'card' or iban is null),
  constraint wallets_kind check (kind in ('owner', 'agent', 'card')),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, parent_wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
create unique index wallets_by_agent on wallets (owner_id, mode, agent_id) where agent_id is not null;
create index wallets_by_parent on wallets (owner_id, mode, parent_wallet_id, id) where parent_wallet_id is not null;
create index wallets_by_kind on wallets (owner_id, mode, kind, id);
create unique index wallets_by_id on wallets (id);
create unique index wallets_of_card on wallets (owner_id, mode, card_id) where card_id is not null;
alter table agents add foreign key (owner_id, mode, wallet_id)
  references wallets (owner_id, mode, id) deferrable initially deferred;
alter table intents add foreign key (owner_id, mode, wallet_id)
  references wallets (owner_id, mode, id) deferrable initially deferred;
alter table ledger_accounts add foreign key (owner_id, mode, wallet_id)
  references wallets (owner_id, mode, id) deferrable initially deferred;

-- One register of the numbers by which money that comes in is matched: a number names a wallet and, where there is one, what
-- is to be paid. A credit carries what it pays, and may come from another owner's ledger.
create table payment_references (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  number bigint not null default nextval('payment_reference_numbers') check (number > 0),
  created_at timestamptz(3) not null,
  wallet_id text collate "C" not null,
  payable_type text check (payable_type in ('request', 'payment_token', 'payment')),
  payable_id text collate "C",
  primary key (owner_id, mode, number),
  check ((payable_type is null) = (payable_id is null)),
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id)
);
-- What comes in names no owner.
create unique index payment_references_by_number on payment_references (number);
create unique index payment_references_of_wallet on payment_references (owner_id, mode, wallet_id)
  where payable_id is null;
create unique index payment_references_of_payable on payment_references (owner_id, mode, payable_type, payable_id)
  where payable_id is not null;

-- What a wallet held when a month began and when it ended, and how it came from the one to the other.
create table statements (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  wallet_id text not null,
  account_id text collate "C" not null,
  period text not null check (period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
  status text not null check (status in ('open', 'final')),
  currency text not null check (currency = 'EUR'),
  holder text not null,
  iban text,
  bic text,
  covers_from timestamptz(3) not null,
  covers_to timestamptz(3) not null,
  opening_cents bigint not null,
  in_cents bigint not null check (in_cents >= 0),
  out_cents bigint not null check (out_cents >= 0),
  closing_cents bigint not null,
  movements bigint not null check (movements >= 0),
  before_version bigint not null check (before_version >= 0),
  last_version bigint not null,
  primary key (owner_id, mode, id),
  constraint statements_once unique (owner_id, mode, wallet_id, period),
  constraint statements_add_up check (opening_cents + in_cents - out_cents = closing_cents),
  check (covers_to >= covers_from),
  check (last_version >= before_version),
  constraint statements_of_nothing check (movements > 0 or in_cents = 0 and out_cents = 0),
  foreign key (owner_id, mode, account_id) references ledger_accounts (owner_id, mode, id),
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
);
create index statements_by_period on statements (owner_id, mode, period, id);
create index statements_by_status on statements (owner_id, mode, status, id);
revoke delete on statements from agentpay_application;

-- What money can be drawn from.
create table payment_methods (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  kind text not null check (kind in ('card', 'sepa_debit')),
  brand text,
  last4 text not null check (last4 ~ '^[0-9A-Z]{4}$'),
  holder text not null,
  token text not null,
  status text not null check (status in ('active', 'removed')),
  removed_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((status = 'removed') = (removed_at is not null))
);
create index payment_methods_by_status on payment_methods (owner_id, mode, status, id);

-- Money that is drawn from a payment method.
create table fundings (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  wallet_id text not null,
  payment_method_id text,
  amount_cents bigint not null check (amount_cents > 0),
  status text not null check (status in ('pending', 'requires_action', 'settled', 'failed', 'reversed')),
  reason jsonb,
  next_action jsonb,
  due_at timestamptz(3),
  settled_at timestamptz(3),
  credit_id text,
  reversed_at timestamptz(3),
  primary key (owner_id, mode, id),
  constraint fundings_check check ((status = 'pending' or status = 'requires_action') = (due_at is not null)),
  constraint fundings_check3 check ((status = 'requires_action') = (next_action is not null)),
  constraint fundings_check4 check (mode = 'test' or payment_method_id is not null),
  constraint fundings_credit check (credit_id is null or status in ('settled', 'reversed')),
  constraint fundings_reason check (status in ('failed', 'reversed') = (reason is not null)),
  constraint fundings_reversed check ((status = 'reversed') = (reversed_at is not null)),
  constraint fundings_settled check (status in ('settled', 'reversed') = (settled_at is not null)),
  foreign key (owner_id, mode, payment_method_id) references payment_methods (owner_id, mode, id),
  foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id)
);
create index fundings_by_wallet on fundings (owner_id, mode, wallet_id, id);
create index fundings_due on fundings (mode, due_at) where status in ('pending', 'requires_action');
create index fundings_of_tenant_due on fundings (owner_id, mode, due_at)
  where status in ('pending', 'requires_action');
create unique index fundings_by_id on fundings (id);

-- Money that has come in by SEPA, and whose it is.
create table incoming_credits (
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  mode text not null check (mode in ('test', 'live')),
  owner_id text not null references customers (id),
  status text not null,
  reason text check (reason in ('no_wallet', 'several_references', 'parts_do_not_sum', 'wallet_closed')),
  wallet_id text,
  amount_cents bigint not null check (amount_cents > 0),
  source text not null,
  origin text not null,
  bank_reference text not null,
  part integer not null check (part >= 0),
  iban text,
  reference text,
  sender_name text,
  sender_iban text,
  end_to_end_id text,
  value_date date not null,
  to_owner_id text,
  due_at timestamptz(3),
  -- What is handed over names a wallet of another owner, whose rows may lie elsewhere one day.
  own_wallet_id text generated always as (
case
    when (to_owner_id is null) then wallet_id
    else null::text
end) stored,
  payable_type text check (payable_type in ('request', 'payment_token', 'payment')),
  payable_id text collate "C",
  -- The wallet that paid, and its owner, where another owner of this installation has paid.
  from_owner_id text,
  from_wallet_id text collate "C",
  recipient_name text,
  refunded_cents bigint not null default 0,
  returned_at timestamptz(3),
  return_reference text,
  primary key (owner_id, mode, id),
  constraint incoming_credits_once unique (mode, origin, bank_reference, part, owner_id),
  constraint incoming_credits_due check (due_at is null or status = 'handed_over'),
  constraint incoming_credits_from
    check (source in ('owner', 'refund') = (from_owner_id is not null)
      and (from_owner_id is null) = (from_wallet_id is null)),
  constraint incoming_credits_handed_over check ((status = 'handed_over') = (to_owner_id is not null)),
  constraint incoming_credits_in_wallet check (status in ('unmatched', 'returned') = (wallet_id is null)),
  constraint incoming_credits_paid_into check (payable_id is null or wallet_id is not null),
  constraint incoming_credits_payable check ((payable_type is null) = (payable_id is null)),
  constraint incoming_credits_reason
    check ( case status when 'matched' then reason is null when 'handed_over' then true else reason is not null end),
  constraint incoming_credits_refunded check (refunded_cents between 0 and amount_cents),
  constraint incoming_credits_returned
    check ((status = 'returned') = (returned_at is not null) and (returned_at is null) = (return_reference is null)),
  constraint incoming_credits_source
    check (source in ('bank', 'simulation', 'funding', 'acquirer', 'owner', 'refund')),
  constraint incoming_credits_status check (status in ('unmatched', 'matched', 'assigned', 'handed_over', 'returned')),
  foreign key (owner_id, mode, own_wallet_id) references wallets (owner_id, mode, id)
);
create index incoming_credits_by_status on incoming_credits (status, id);
create index incoming_credits_by_id on incoming_credits (id);
create index incoming_credits_due on incoming_credits (mode, due_at) where due_at is not null;
create index incoming_credits_of_payable on incoming_credits (owner_id, mode, payable_type, payable_id, id)
  where payable_id is not null;
-- What has come in for an owner and waits for a wallet. Nearly all credits are in one.
create index incoming_credits_waiting on incoming_credits (owner_id, mode, id) where status = 'unmatched';

-- Whom an owner pays by SEPA. A deleted one stays: transfers name it.
create table beneficiaries (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null check (length(name) between 1 and 140),
  sepa_name text not null check (sepa_name ~ '^[A-Za-z0-9/?:().,''+ -]{1,70}$' and sepa_name ~ '[A-Za-z0-9]'),
  iban text not null check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$'),
  bic text check (bic ~ '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$'),
  country text not null check (country ~ '^[A-Z]{2}$'),
  email text,
  verification jsonb check (verification ->> 'result' in ('match', 'close_match', 'no_match', 'not_possible')),
  duplicate_of text,
  deleted_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (duplicate_of <> id),
  check (verification is null or verification ? 'result' and verification ? 'at'),
  foreign key (owner_id, mode, duplicate_of)
    references beneficiaries (owner_id, mode, id) deferrable initially deferred
);
create unique index beneficiaries_one_original on beneficiaries (owner_id, mode, iban)
  where duplicate_of is null and deleted_at is null;
create index beneficiaries_by_iban on beneficiaries (owner_id, mode, iban, id) where deleted_at is null;
create index beneficiaries_by_country on beneficiaries (owner_id, mode, country, id) where deleted_at is null;
create index beneficiaries_by_verification on beneficiaries (owner_id, mode, ((verification ->> 'result')), id)
  where deleted_at is null;
create index beneficiaries_by_original on beneficiaries (owner_id, mode, duplicate_of) where duplicate_of is not null;
alter table intents add foreign key (owner_id, mode, beneficiary_id)
  references beneficiaries (owner_id, mode, id) deferrable initially deferred;
