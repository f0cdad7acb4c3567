-- Area: kernel. The deadlines of records whose table has no index that their usual course changes, so that a payment changes its
-- rows in place. A trigger keeps them: keep_deadline. See docs/decisions/0030-changed-in-place.md.
create table deadlines (
  -- The table of the record.
  kind text collate "C" not null,
  mode text not null check (mode in ('test', 'live')),
  due_at timestamptz(3) not null,
  owner_id text not null,
  id text collate "C" not null,
  primary key (kind, mode, due_at, owner_id, id)
);
-- A tenant's records that are under way, for lists and for what a freeze cancels.
create index deadlines_of_owner on deadlines (owner_id, mode, kind, id) where kind <> 'card_authorizations';
-- The search for missing runs reads in the order of ids.
create index deadlines_with_a_run on deadlines (kind, id) where kind in ('transfers', 'mpp_credentials');
insert into deadlines select 'transfers', mode, due_at, owner_id, id from transfers where due_at is not null;
insert into deadlines select 'mpp_credentials', mode, due_at, owner_id, id from mpp_credentials where due_at is not null;
insert into deadlines select 'mpp_settlements', mode, due_at, owner_id, id from mpp_settlements where due_at is not null;
insert into deadlines select 'card_authorizations', mode, expires_at, owner_id, id from card_authorizations where expires_at is not null;

-- Area: commerce.
-- Payments that have neither ended nor failed: a trigger keeps them, keep_open_transaction.
create table open_transactions (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  primary key (owner_id, mode, id)
);
insert into open_transactions select owner_id, mode, id from transactions where status in ('authorization', 'settlement', 'settled');

-- The status, unless it is one that a payment usually has.
alter table transactions add column exceptional_status text
  generated always as (case when status in ('declined', 'refunded') then status end) stored;
drop index transactions_by_status, transactions_of_agent_by_status, transactions_of_intent;
create index transactions_by_exceptional_status on transactions (owner_id, mode, exceptional_status, id)
  where exceptional_status is not null;
create index transactions_of_agent_by_exceptional_status on transactions (agent_id, exceptional_status, id)
  where agent_id is not null and exceptional_status is not null;
create unique index transactions_of_intent
  on transactions (owner_id, mode, intent_id, (case when exceptional_status = 'declined' then id end)) nulls not distinct
  where intent_id is not null;
alter table transactions set (fillfactor = 90);

alter table transfers add column exceptional_status text
  generated always as (case when status in ('rejected', 'cancelled', 'returned') then status end) stored;
drop index transfers_by_status, transfers_by_deadline, transfers_with_a_run, transfers_payee_to_confirm, transfers_of_intent;
create index transfers_by_exceptional_status on transfers (owner_id, mode, exceptional_status, id)
  where exceptional_status is not null;
create unique index transfers_of_intent
  on transfers (owner_id, mode, intent_id, (case when exceptional_status = 'cancelled' then id end)) nulls not distinct
  where intent_id is not null;
alter table transfers set (fillfactor = 90);

-- Of a row that changes in place PostgreSQL logs what lies between the first changed byte and the last one. So the challenge, which
-- never changes and is most of the row, comes behind all that does. It stays in the row when the receipt comes.
do $$
begin
  alter table mpp_credentials add column moved jsonb;
  update mpp_credentials set moved = challenge;
  alter table mpp_credentials drop column challenge;
  alter table mpp_credentials rename column moved to challenge;
  alter table mpp_credentials alter column challenge set not null;
end $$;
alter table mpp_credentials add column exceptional_status text
  generated always as (case when status in ('minted', 'indeterminate', 'void') then status end) stored;
-- A credential has a token of its own, whose id is unique.
drop index mpp_credentials_by_status, mpp_credentials_due, mpp_credentials_with_a_run, mpp_credentials_by_digest;
create index mpp_credentials_by_exceptional_status on mpp_credentials (owner_id, mode, exceptional_status, id)
  where exceptional_status is not null;
alter table mpp_credentials set (fillfactor = 50, toast_tuple_target = 8160);

alter table mpp_settlements add column exceptional_status text
  generated always as (case when status = 'declined' then status end) stored;
drop index mpp_settlements_by_status, mpp_settlements_due;
create index mpp_settlements_by_exceptional_status on mpp_settlements (owner_id, mode, exceptional_status, id)
  where exceptional_status is not null;
alter table mpp_settlements set (fillfactor = 80);

-- Area: cards.
alter table card_authorizations
  add column exceptional_status text
    generated always as (case when status in ('declined', 'reversed', 'expired', 'void', 'refunded') then status end) stored,
  add column is_awaited boolean not null generated always as (processor_ref is null and status = 'confirmed') stored;
drop index card_authorizations_due, card_authorizations_paying, card_authorizations_of_card_by_status, card_authorizations_awaited;
create index card_authorizations_of_card_by_exceptional_status on card_authorizations (card_id, exceptional_status, id)
  where exceptional_status is not null;
create index card_authorizations_paying on card_authorizations (card_id)
  where amount_cents > 0 and coalesce(exceptional_status, 'refunded') = 'refunded';
create index card_authorizations_awaited on card_authorizations (owner_id, mode, agent_id, merchant_key, id) where is_awaited;
alter table card_authorizations set (fillfactor = 70);
