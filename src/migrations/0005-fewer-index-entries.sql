-- One payment writes fewer index entries: an index stays where a query needs it, and rows that no query finds by it have no
-- entry. Which index serves which list: docs/decisions/0025-what-a-payment-writes.md.

-- Outside a run an intent has no likeness, and is compared with no other one.
drop index intents_alike;
create index intents_alike on intents (agent_id, likeness, created_at)
  where likeness is not null and status in ('created', 'approved', 'completed');

-- A payment that begins on an intent changes no index: the intent stays payable until it is paid or ends.
drop index intents_payable;
create index intents_payable on intents (owner_id, mode, agent_id, merchant_key, hold_cents, expires_at)
  where status = 'approved';
alter table intents set (fillfactor = 80);

-- What few rows of an agent, an owner or a card are is found without reading all that ended well, which has no entry.
drop index intents_open_by_agent;
create index intents_of_agent_by_status on intents (owner_id, mode, agent_id, status, id) where status <> 'completed';
drop index transfers_not_left;
create index transfers_by_status on transfers (owner_id, mode, status, id) where status <> 'completed';
create index transactions_of_agent_by_status on transactions (owner_id, mode, agent_id, status, id)
  where agent_id is not null and status <> 'completed';
create index card_authorizations_of_card_by_status on card_authorizations (owner_id, mode, card_id, status, id)
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
