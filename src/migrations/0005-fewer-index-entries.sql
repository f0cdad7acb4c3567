-- One payment writes fewer index entries: an index stays where a query needs it, and rows that no query finds by it have no
-- entry. Which index serves which list: docs/decisions/0025-what-a-payment-writes.md.

-- Outside a run an intent has no likeness, and is compared with no other one.
drop index intents_alike;
create index intents_alike on intents (agent_id, likeness, created_at)
  where likeness is not null and status in ('created', 'approved', 'completed');

-- A payment that begins on an intent changes no index: the intent stays payable until it is paid or ends.
drop index intents_payable;
create index intents_payable on intents (agent_id, merchant_key, hold_cents, expires_at)
  where status = 'approved';
alter table intents set (fillfactor = 80);

-- What few rows of an agent, an owner or a card are is found without reading all that ended well, which has no entry.
drop index intents_open_by_agent;
create index intents_of_agent_by_status on intents (agent_id, status, id) where status <> 'completed';
drop index transfers_not_left;
create index transfers_by_status on transfers (owner_id, mode, status, id) where status <> 'completed';
create index transactions_of_agent_by_status on transactions (agent_id, status, id)
  where agent_id is not null and status <> 'completed';
create index card_authorizations_of_card_by_status on card_authorizations (card_id, status, id)
  where status in ('declined', 'reversed', 'expired', 'void', 'refunded');

-- A decision is found by its subject, whose decisions are few.
alter table decisions drop constraint decisions_pkey, add primary key (owner_id, mode, subject_id, id);
drop index decisions_by_subject;

-- An account's entries are booked in the order of their versions: ledger_version_before finds an instant among them.
drop index ledger_entries_by_time;
-- Only a proof of the whole ledger adds up open holds, and it reads all holds of its owner. Without it, a hold ends in place.
drop index ledger_holds_open;

-- The payments of an intent, those by machine too: a credential pays one intent, and has a token of its own.
drop index card_authorizations_of_intent, card_authorizations_of_mpp, card_authorizations_of_token;
create unique index card_authorizations_of_intent on card_authorizations (owner_id, mode, intent_id, mpp_credential_id)
  where intent_id is not null;
-- Which rule has declined a payment is found by its transaction.
drop index card_authorizations_declined;
alter table card_authorizations drop constraint card_authorizations_once;
create unique index card_authorizations_once on card_authorizations (owner_id, mode, processor_ref)
  where processor_ref is not null;

-- One transfer pays an intent, and any number were cancelled.
drop index transfers_by_intent, transfers_of_intent;
create unique index transfers_of_intent
  on transfers (owner_id, mode, intent_id, (case when status = 'cancelled' then id end)) nulls not distinct
  where intent_id is not null;

drop index mpp_settlements_of_request;
create index mpp_settlements_of_request on mpp_settlements (owner_id, mode, request_id, id) where request_id is not null;

-- A lease of its own leaves due_at as it is: whoever takes a row changes it in place.
alter table outbox add column leased_until timestamptz(3);
alter table outbox set (fillfactor = 70);
-- A record whose run is missing looks for its start among the few rows that wait.
drop index outbox_by_tenant;

-- One transaction pays an intent, and any number were declined. The list of an intent's transactions reads it, too.
drop index transactions_of_intent;
create unique index transactions_of_intent
  on transactions (owner_id, mode, intent_id, (case when status = 'declined' then id end)) nulls not distinct
  where intent_id is not null;

-- An id names no owner twice, so an index of a record's own references needs none, and is a quarter narrower.
drop index intents_by_agent, intents_by_run, intents_by_beneficiary;
create index intents_by_agent on intents (agent_id, id);
create index intents_by_run on intents (run_id, id) where run_id is not null;
create index intents_by_beneficiary on intents (beneficiary_id, id) where beneficiary_id is not null;
drop index decisions_in_time;
create index decisions_in_time on decisions (agent_id, created_at, id);
drop index transactions_by_agent, transactions_by_wallet, transactions_by_run;
create index transactions_by_agent on transactions (agent_id, id) where agent_id is not null;
create index transactions_by_wallet on transactions (wallet_id, id);
create index transactions_by_run on transactions (run_id, id) where run_id is not null;
drop index transfers_by_payer, transfers_by_payee, transfers_by_beneficiary, transfers_by_agent, transfers_by_token;
create index transfers_by_payer on transfers (from_wallet_id, id);
create index transfers_by_payee on transfers (to_wallet_id, id) where to_wallet_id is not null;
create index transfers_by_beneficiary on transfers (beneficiary_id, id) where beneficiary_id is not null;
create index transfers_by_agent on transfers (agent_id, id) where agent_id is not null;
create index transfers_by_token on transfers (token_id) where token_id is not null;
drop index card_authorizations_of_card, card_authorizations_paying, card_authorizations_of_transaction;
create index card_authorizations_of_card on card_authorizations (card_id, id);
create index card_authorizations_paying on card_authorizations (card_id)
  where amount_cents > 0 and status in ('pending', 'authorized', 'confirmed', 'cleared', 'refunded');
create index card_authorizations_of_transaction on card_authorizations (transaction_id) where transaction_id is not null;
drop index ledger_entries_by_transfer;
create index ledger_entries_by_transfer on ledger_entries (transfer_id);
drop index mpp_credentials_by_agent, mpp_credentials_of_intent, mpp_credentials_of_card;
create index mpp_credentials_by_agent on mpp_credentials (agent_id, id);
create index mpp_credentials_of_intent on mpp_credentials (intent_id, id);
create index mpp_credentials_of_card on mpp_credentials (card_id, id);
drop index agent_credentials_by_agent, agent_credentials_of_card;
create index agent_credentials_by_agent on agent_credentials (agent_id, id);
create index agent_credentials_of_card on agent_credentials (card_id, id);
drop index access_events_of_card, access_events_of_agent, access_events_of_intent;
create index access_events_of_card on access_events (card_id, id);
create index access_events_of_agent on access_events (agent_id, id);
create index access_events_of_intent on access_events (intent_id, id) where intent_id is not null;
