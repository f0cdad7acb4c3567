-- Area: compliance. The sealed audit trail, consents, requests of people, and incidents.

-- How far the journal is sealed: all events of transactions before this place are, except for those of the
-- transactions in "open", which had not ended when they were passed. So nothing waits for a transaction that is
-- open for an hour, and its events are sealed once it has ended.
create table audit_sealing (
  is_only boolean default true primary key check (is_only),
  written_in bigint not null,
  id text collate "C" not null,
  open bigint[] not null
);
revoke insert, delete on audit_sealing from agentpay_application;
insert into audit_sealing (written_in, id, open) values (0, '', '{}');

-- The size of each tenant's tree, and the hashes of its complete subtrees from left to right: what it takes to append.
create table audit_trees (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  size bigint not null check (size > 0),
  peaks bytea not null check (octet_length(peaks) % 32 = 0),
  primary key (owner_id, mode)
);
revoke delete on audit_trees from agentpay_application;

-- The place of an event in the tree. The event itself is not touched: writing it costs nothing more.
create table audit_seals (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  position bigint not null check ("position" >= 0),
  event_id text collate "C" not null,
  leaf bytea not null check (octet_length(leaf) = 32),
  -- By the place of each text about a person: what its HMAC is keyed with, and the HMAC that is in the leaf.
  salts jsonb not null,
  commitments jsonb not null,
  primary key (owner_id, mode, "position"),
  unique (owner_id, mode, event_id)
);
revoke update, delete on audit_seals from agentpay_application;

-- 256 hashes of each eighth level of a tree, once they are complete. So a proof reads a few rows, however large the
-- tree is. The hashes of a tile that is not complete are those of the seals, and the roots of the tiles below.
create table audit_tiles (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  level smallint not null check (level >= 0),
  index bigint not null check (index >= 0),
  hashes bytea storage external not null check (octet_length(hashes) = 8192),
  root bytea not null check (octet_length(root) = 32),
  primary key (owner_id, mode, level, index)
);
revoke update, delete on audit_tiles from agentpay_application;

-- Signed statements of how large a tree was.
create table audit_checkpoints (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  size bigint not null check (size > 0),
  -- Says the size, too, and the root of the tree.
  note text not null check (char_length(note) between 100 and 1000),
  primary key (owner_id, mode, id),
  unique (owner_id, mode, size)
);
revoke update, delete on audit_checkpoints from agentpay_application;

-- What is left of audit entries that were purged, so that everything later still verifies.
create table audit_purges (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  -- What was written before this instant is gone.
  before timestamptz(3) not null,
  -- How many entries from the first one on are gone.
  size bigint not null check (size > 0),
  -- The hashes of the leaves after the last complete tile: those before are in the tiles.
  edge bytea not null,
  -- The checkpoint that has signed them.
  checkpoint_id text collate "C" not null,
  primary key (owner_id, mode, size),
  unique (owner_id, mode, id),
  check (octet_length(edge) = 32 * (size % 256))
);
revoke insert, update, delete on audit_purges from agentpay_application;

-- What owners have consented to: each change is a row that stays.
create table consents (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  purpose text collate "C" not null check (purpose ~ '^[a-z][a-z0-9_]{0,49}$'),
  granted boolean not null,
  wording_version text not null check (char_length(wording_version) between 1 and 50),
  by_type text not null,
  by_id text,
  primary key (owner_id, mode, id)
);
create index consents_of_purpose on consents (owner_id, mode, purpose, id desc);
revoke update, delete on consents from agentpay_application;

-- Requests of people for what is held about them. The archive itself is made anew at each download.
create table gdpr_exports (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('requested', 'ready', 'expired')),
  subject_type text not null check (subject_type in ('owner', 'person', 'beneficiary', 'payer', 'merchant')),
  subject_id text collate "C" not null,
  records bigint check (records >= 0),
  answer_by timestamptz(3) not null,
  ready_at timestamptz(3),
  expires_at timestamptz(3),
  due_at timestamptz(3),
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check ((status = 'requested') = (ready_at is null)),
  check ((ready_at is null) = (expires_at is null) and (ready_at is null) = (records is null)),
  check ((status = 'expired') = (due_at is null))
);
create index gdpr_exports_by_status on gdpr_exports (owner_id, mode, status, id);
create index gdpr_exports_due on gdpr_exports (mode, due_at) where status <> 'expired';
create index gdpr_exports_with_a_run on gdpr_exports (id) where status <> 'expired';

-- Requests to be forgotten.
create table gdpr_deletions (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('requested', 'waiting', 'ending', 'forgetting', 'completed', 'cancelled')),
  subject_type text not null check (subject_type in ('owner', 'person', 'beneficiary', 'payer', 'merchant')),
  subject_id text collate "C" not null,
  answer_by timestamptz(3) not null,
  -- Nothing is done before.
  begins_at timestamptz(3) not null,
  -- What must end first: kinds and ids of records.
  waits_for jsonb not null default '[]' check (jsonb_typeof(waits_for) = 'array'),
  -- How many records were changed.
  records bigint not null default 0 check (records >= 0),
  -- What the law keeps, by ground: how many records, and until when.
  kept jsonb not null default '[]' check (jsonb_typeof(kept) = 'array'),
  completed_at timestamptz(3),
  cancelled_at timestamptz(3),
  due_at timestamptz(3),
  workflow_id text not null,
  -- Up to where tables and trail have been read: see forget_next.
  place jsonb not null default '{}' check (jsonb_typeof(place) = 'object'),
  -- When it was completed before a backup was restored: the years of the law run from then.
  first_completed_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((status = 'completed') = (completed_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null)),
  check (status in ('completed', 'cancelled') or due_at is not null),
  check (status <> 'cancelled' or due_at is null),
  check ((status = 'waiting') = (waits_for <> '[]'))
);
create index gdpr_deletions_by_status on gdpr_deletions (owner_id, mode, status, id);
create unique index gdpr_deletions_one_open on gdpr_deletions (owner_id, mode, subject_type, subject_id)
  where status not in ('completed', 'cancelled');
create index gdpr_deletions_due on gdpr_deletions (mode, due_at) where due_at is not null;
create index gdpr_deletions_with_a_run on gdpr_deletions (id) where status not in ('completed', 'cancelled');
-- For the operator, who reads them across all owners.
create unique index gdpr_deletions_by_id on gdpr_deletions (id);
revoke delete on gdpr_deletions from agentpay_application;

-- What went wrong with the service, and what the authorities are told of it.
create table security_incidents (
  owner_id text not null references customers (id) deferrable initially deferred check (owner_id = 'customer_house'),
  mode text not null check (mode = 'live'),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null
    check (status in ('detected', 'classified', 'initial_submitted', 'intermediate_submitted', 'final_submitted',
      'closed')),
  severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
  category text not null
    check (category in ('cybersecurity', 'process_failure', 'system_failure', 'external_event', 'payment_related',
      'other')),
  description text not null check (char_length(description) between 1 and 10000),
  detected_at timestamptz(3) not null,
  aware_at timestamptz(3) not null,
  occurred_at timestamptz(3),
  recovered_at timestamptz(3),
  resolved_at timestamptz(3),
  affected_users integer check (affected_users >= 0),
  countries text[] not null,
  personal_data_aware_at timestamptz(3),
  criteria jsonb,
  is_major boolean,
  classified_at timestamptz(3),
  decisions jsonb not null,
  reports jsonb not null,
  fields jsonb not null,
  reminded text[] not null,
  closed_at timestamptz(3),
  due_at timestamptz(3),
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check (aware_at >= detected_at),
  check ((status = 'detected') = (is_major is null)),
  check ((is_major is true) = (classified_at is not null)),
  check (is_major is true or status in ('detected', 'classified', 'closed')),
  check ((status = 'closed') = (closed_at is not null)),
  check (status <> 'closed' or due_at is null)
);
create index security_incidents_by_status on security_incidents (owner_id, mode, status, id);
create index security_incidents_by_severity on security_incidents (owner_id, mode, severity, id);
create index security_incidents_due on security_incidents (mode, due_at) where status <> 'closed';
create index security_incidents_with_a_run on security_incidents (id) where status <> 'closed';

-- Merchants that ask to be let in.
create table merchant_applications (
  owner_id text not null references customers (id) deferrable initially deferred check (owner_id = 'customer_house'),
  mode text not null check (mode = 'live'),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('submitted', 'approved', 'rejected', 'revoked')),
  name text not null check (char_length(name) between 1 and 200),
  legal_name text not null check (char_length(legal_name) between 1 and 200),
  country text not null check (char_length(country) = 2),
  website text not null check (char_length(website) <= 500),
  mcc text check (mcc ~ '^[0-9]{4}$'),
  contact_name text not null check (char_length(contact_name) between 1 and 200),
  contact_email text not null check (char_length(contact_email) <= 254),
  reason text check (char_length(reason) between 1 and 1000),
  decided_at timestamptz(3),
  revoked_at timestamptz(3),
  public_key_jwk jsonb,
  primary key (owner_id, mode, id),
  check ((status = 'submitted') = (decided_at is null)),
  check ((status = 'revoked') = (revoked_at is not null)),
  check (status in ('rejected', 'revoked') = (reason is not null))
);
create index merchant_applications_by_status on merchant_applications (owner_id, mode, status, id);

-- The keys of merchants that were let in.
create table merchant_keys (
  owner_id text not null check (owner_id = 'customer_house'),
  mode text not null check (mode = 'live'),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  merchant_id text collate "C" not null,
  hash text not null unique,
  hint text not null check (char_length(hint) = 4),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, merchant_id)
    references merchant_applications (owner_id, mode, id) deferrable initially deferred
);
create index merchant_keys_of_merchant on merchant_keys (owner_id, mode, merchant_id, id) where revoked_at is null;
