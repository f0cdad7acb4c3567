-- Area: commerce. A machine payment is a record of its own from the request on; its credential has the same id once it is minted.
create table mpp_payments (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  intent_id text collate "C" not null,
  card_id text collate "C" not null,
  status text not null check (status in ('ordering', 'minted', 'ended')),
  sent_by text not null check (sent_by in ('service', 'caller')),
  merchant text not null,
  url text not null,
  method text not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  -- Who asked, and the run of theirs: what they may not do any more, the payment may not either.
  asked_by jsonb not null,
  -- Sealed: the request to the merchant, until it is sent or the payment has ended; the credential, from its minting until it is sent.
  request text,
  credential text,
  -- Why it ended before anything was minted.
  reason text,
  -- How often its order was begun, and by whom, until when others keep away.
  attempts integer not null,
  claimed_by text collate "C",
  due_at timestamptz(3),
  workflow_id text,
  primary key (owner_id, mode, id),
  check (status <> 'ordering' or request is not null and due_at is not null),
  check (status <> 'ended' or request is null and credential is null and due_at is null)
);
-- Its deadline is a row of `deadlines`: see keep_deadline.
drop index deadlines_with_a_run;
create index deadlines_with_a_run on deadlines (kind, id) where kind in ('transfers', 'mpp_credentials', 'mpp_payments');
create index mpp_payments_of_agent on mpp_payments (agent_id, id);

-- What the caller of a machine payment gets, sealed, for ten minutes: by real time.
create table mpp_answers (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C" not null,
  delegation_id text collate "C",
  answer text not null,
  expires_at timestamptz(3) not null,
  primary key (owner_id, mode, id)
);
create index mpp_answers_expired on mpp_answers (expires_at);

-- A credential that the service sends is minted before it is sent.
alter table mpp_credentials drop constraint mpp_credentials_minted;
