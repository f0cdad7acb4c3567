-- Area: identity. Who owns an account, who signs in to it, and what was proven about them.

-- The owners of accounts.
create table customers (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null,
  email text not null,
  type text not null check (type in ('individual', 'business')),
  country text not null check (country ~ '^[A-Z]{2}$'),
  plan text not null check (plan in ('free', 'starter', 'business', 'enterprise')),
  status text not null check (status in ('active', 'suspended')),
  kyc_status text not null check (kyc_status in ('none', 'pending', 'in_review', 'verified', 'rejected')),
  phone text check (phone ~ '^[+][1-9][0-9]{6,14}$'),
  address jsonb
    check (address is null or jsonb_typeof(address) = 'object' and coalesce(address ->> 'line1', '') <> ''
      and coalesce(address ->> 'city', '') <> '' and coalesce(address ->> 'postalCode', '') <> ''
      and coalesce(address ->> 'country', '') ~ '^[A-Z]{2}$'),
  -- By a deletion that may yet find something in its way, or for good.
  suspended_by text check (suspended_by in ('operator', 'deletion', 'forgotten')),
  check (suspended_by is null or status = 'suspended')
);
create index customers_by_email on customers (email, id);
-- On the ledger of the house lies what has come in for nobody that is known.
insert into customers (id, created_at, updated_at, name, email, type, country, plan, status, kyc_status)
values ('customer_house', now(), now(), 'The operator of this installation', 'house@localhost', 'business', 'DE',
  'enterprise', 'active', 'none');

-- The API keys of owners.
create table keys (
  id text collate "C" not null,
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null,
  environment text not null check (environment in ('sandbox', 'test', 'live')),
  hash text not null unique,
  hint text not null,
  scopes text[],
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  made_by_id text,
  -- After so many days without a use it opens nothing any more.
  idle_days integer check (idle_days between 1 and 365),
  -- The thumbprint (RFC 7638) of the key that signs a proof of possession for each request (RFC 9449).
  bound_to text check (bound_to ~ '^[A-Za-z0-9_-]{43}$'),
  -- The device session or the pairing that it was made in, and the person who has agreed there.
  session_id text collate "C",
  person_id text collate "C",
  tool_writes boolean not null default false,
  primary key (owner_id, mode, id),
  check ((environment = 'live') = (mode = 'live')),
  check (session_id is null or person_id is not null)
);
create index keys_by_maker on keys (owner_id, mode, made_by_id, id) where made_by_id is not null;
-- These are found by their id alone, too: by operators, and by the queues, which serve all owners.
create unique index keys_by_id on keys (id);
create index keys_by_session on keys (owner_id, mode, session_id, id) where session_id is not null;
create index keys_by_person on keys (owner_id, mode, person_id, id) where person_id is not null and revoked_at is null;

-- The keys with which the installation signs evidence and receipts: one is current, and old ones keep their public half.
create table signing_keys (
  owner_id text not null check (owner_id = 'customer_house'),
  mode text not null check (mode = 'live'),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  kid text collate "C" not null unique check (kid ~ '^[A-Za-z0-9_-]{43}$'),
  x text not null check (x ~ '^[A-Za-z0-9_-]{43}$'),
  private_key text,
  retired_at timestamptz(3),
  primary key (owner_id, mode, id),
  -- What a retired key has signed is checked with its public half: nothing needs the private one again.
  check ((retired_at is null) = (private_key is not null))
);
create unique index signing_keys_current on signing_keys (owner_id, mode) where retired_at is null;

-- The people of a tenant.
create table people (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null check (char_length(name) between 1 and 200),
  email text check (char_length(email) <= 254),
  role text not null check (role in ('owner', 'approver', 'viewer')),
  status text not null check (status in ('invited', 'active', 'removed')),
  joined_at timestamptz(3),
  removed_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((status = 'removed') = (removed_at is not null)),
  check (status = 'removed' or (status = 'active') = (joined_at is not null)),
  check (status <> 'removed' or email is null)
);
create unique index people_by_email on people (owner_id, mode, lower(email)) where email is not null;
create index people_by_status on people (owner_id, mode, status, id);
create index people_by_role on people (owner_id, mode, role, id);
alter table keys add foreign key (owner_id, mode, person_id)
  references people (owner_id, mode, id) deferrable initially deferred;

-- The links by which people join and sign in.
create table person_links (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The link of a tenant's first person makes that person when it is opened.
  person_id text collate "C",
  kind text not null check (kind in ('sign_in', 'join', 'recovery')),
  recovery_id text collate "C",
  hash text not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (person_id is not null or kind = 'sign_in' and used_at is null),
  check ((kind = 'recovery') = (recovery_id is not null)),
  check (used_at is null or revoked_at is null),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
-- Whoever opens a link shows its token alone.
create unique index person_links_by_hash on person_links (hash);
create index person_links_open on person_links (owner_id, mode, person_id, id)
  where used_at is null and revoked_at is null;
create index person_links_by_end on person_links (expires_at);

-- The passkeys of people.
create table passkeys (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  person_id text collate "C" not null,
  name text not null check (char_length(name) between 1 and 200),
  credential_id text collate "C" not null check (length(credential_id) between 1 and 1364),
  public_key text not null check (length(public_key) <= 1600),
  public_key_jwk jsonb not null,
  algorithm text not null check (algorithm in ('Ed25519', 'ES256', 'RS256')),
  counter bigint not null check (counter >= 0 and counter <= '4294967295'),
  backup_eligible boolean not null,
  backed_up boolean not null,
  backup_changed_at timestamptz(3),
  transports text[] not null,
  aaguid text not null,
  enrolled_by text not null check (enrolled_by in ('key', 'console')),
  last_used_at timestamptz(3),
  blocked_until timestamptz(3),
  revoked_at timestamptz(3),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
-- Whoever signs in shows the credential alone.
create unique index passkeys_by_credential on passkeys (credential_id);
create index passkeys_by_person on passkeys (owner_id, mode, person_id, id);
create index passkeys_active on passkeys (owner_id, mode, id) where revoked_at is null;

-- The statements that passkeys sign.
create table passkey_challenges (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  kind text not null
    check (kind in ('intent', 'payment', 'mandate', 'revocation', 'enrolment', 'invitation', 'key', 'deletion',
      'device', 'pairing', 'registration', 'sign_in')),
  subject_id text collate "C",
  person_id text collate "C",
  statement jsonb not null,
  openings jsonb not null,
  -- The tenant's time: in test mode its owner may have moved it.
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  authority text check (authority in ('first', 'grant', 'passkey')),
  authority_id text collate "C",
  primary key (owner_id, mode, id),
  check (expires_at <= created_at + '00:05:00'::interval),
  check ((kind = 'registration') = (authority is not null)),
  check (authority in ('grant', 'passkey') = (authority_id is not null))
);
create index passkey_challenges_by_end on passkey_challenges (expires_at);

-- Who may enrol a passkey without having another one.
create table enrolment_grants (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  person_id text collate "C" not null,
  session_id text collate "C" not null,
  kind text not null check (kind in ('join', 'recovery')),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create index enrolment_grants_by_session on enrolment_grants (owner_id, mode, session_id, id);
create index enrolment_grants_by_person on enrolment_grants (owner_id, mode, person_id, id);
create index enrolment_grants_by_end on enrolment_grants (expires_at);

-- People who have lost their passkeys, and wait for a new one.
create table recoveries (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  person_id text collate "C" not null,
  status text not null check (status in ('waiting', 'ready', 'completed', 'stopped', 'expired')),
  ready_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  stopped_by jsonb,
  reason text,
  due_at timestamptz(3),
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check (expires_at > ready_at),
  check (status in ('waiting', 'ready') = (ended_at is null)),
  check (status in ('waiting', 'ready') = (due_at is not null)),
  check ((status = 'stopped') = (stopped_by is not null)),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
-- One at a time for a person: a second one would not be seen by whoever stops the first.
create unique index recoveries_open on recoveries (owner_id, mode, person_id) where status in ('waiting', 'ready');
create index recoveries_by_person on recoveries (owner_id, mode, person_id, id);
create index recoveries_with_a_run on recoveries (id) where status in ('waiting', 'ready');
create index recoveries_due on recoveries (mode, due_at) where status in ('waiting', 'ready');
alter table person_links add foreign key (owner_id, mode, recovery_id)
  references recoveries (owner_id, mode, id) deferrable initially deferred;

-- The sessions of people in the console.
create table console_sessions (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  person_id text collate "C" not null,
  -- The passkey that began it; null where a link did.
  passkey_id text collate "C",
  hash text not null,
  hint text not null,
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  revoked_because text check (revoked_because in ('signed_out', 'ended', 'replaced', 'person', 'passkey')),
  address text,
  user_agent text check (length(user_agent) <= 300),
  primary key (owner_id, mode, id),
  check (expires_at <= created_at + '12:00:00'::interval),
  check ((revoked_at is null) = (revoked_because is null)),
  foreign key (owner_id, mode, passkey_id) references passkeys (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create unique index console_sessions_by_hash on console_sessions (hash);
create index console_sessions_by_person on console_sessions (owner_id, mode, person_id, id);
create index console_sessions_by_passkey on console_sessions (owner_id, mode, passkey_id)
  where passkey_id is not null and revoked_at is null;
-- Old ones are deleted.
create index console_sessions_by_end on console_sessions (expires_at);

-- The sessions in which devices ask for a key.
create table sessions (
  -- Until somebody decides about it, the platform: a device does not say for which account it asks.
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('requested', 'approved', 'active', 'denied', 'revoked', 'expired')),
  -- Digests of the code by which the device asks, and of the one that the person types.
  hash text not null,
  user_hash text not null,
  device_id text collate "C" not null check (char_length(device_id) between 8 and 128),
  device_name text not null check (char_length(device_name) between 1 and 100),
  client_type text not null check (client_type in ('sdk', 'cli', 'mcp', 'api', 'browser', 'other')),
  -- Null: all that the person may give.
  scopes text[],
  bound_to text check (bound_to ~ '^[A-Za-z0-9_-]{43}$'),
  address text,
  -- The client behind the address: of those that wait, it has a few.
  client text not null,
  interval_seconds integer not null check (interval_seconds between 5 and 600),
  polled_at timestamptz(3),
  -- The account one of whose people has looked it up last.
  shown_to text collate "C",
  person_id text collate "C",
  key_id text collate "C",
  decided_at timestamptz(3),
  ended_at timestamptz(3),
  ends_at timestamptz(3) not null,
  -- When it is deleted, where nobody has decided about it.
  forget_at timestamptz(3),
  tool_writes boolean not null default false,
  primary key (owner_id, mode, id),
  check (status in ('denied', 'revoked', 'expired') = (ended_at is not null)),
  check ((person_id is null) = (decided_at is null)),
  check (status in ('requested', 'expired') or person_id is not null),
  check (status <> 'requested' or person_id is null and forget_at is not null),
  check (status <> 'active' or key_id is not null and scopes is not null),
  foreign key (owner_id, mode, key_id) references keys (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
-- Whoever asks shows the code alone.
create unique index sessions_by_hash on sessions (hash);
create unique index sessions_by_user_code on sessions (owner_id, mode, user_hash) where status = 'requested';
create index sessions_that_wait on sessions (owner_id, mode, client) where status = 'requested';
create index sessions_by_status on sessions (owner_id, mode, status, id);
create index sessions_by_person on sessions (owner_id, mode, person_id, id);
create index sessions_due on sessions (mode, ends_at) where status in ('requested', 'approved', 'active');
create index sessions_forgotten on sessions (forget_at) where forget_at is not null;

-- Terminals that ask for a key, by PKCE.
create table cli_pairings (
  -- The platform's until somebody decides, from then on that person's tenant.
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('pending', 'approved', 'denied', 'paired', 'void')),
  hash text not null,
  code_challenge text not null check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  pairing_code text not null check (pairing_code ~ '^[B-Z]{4}-[B-Z]{4}$'),
  device_name text not null check (char_length(device_name) between 1 and 100),
  address text,
  expires_at timestamptz(3) not null,
  person_id text collate "C",
  session_id text collate "C",
  decided_at timestamptz(3),
  -- Null: every scope, future ones included.
  scopes text[],
  key_id text collate "C",
  client text not null default '',
  tool_writes boolean not null default false,
  primary key (owner_id, mode, id),
  check (expires_at <= created_at + '00:06:00'::interval),
  check ((person_id is null) = (decided_at is null) and (person_id is null) = (session_id is null)),
  check (status <> 'pending' or person_id is null),
  check (status not in ('approved', 'denied', 'paired') or person_id is not null),
  check ((status = 'paired') = (key_id is not null)),
  foreign key (owner_id, mode, key_id) references keys (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create unique index cli_pairings_by_hash on cli_pairings (hash);
-- Old ones are deleted.
create index cli_pairings_by_end on cli_pairings (expires_at);
create index cli_pairings_that_wait on cli_pairings (owner_id, mode, client) where status = 'pending';

-- What companies say of themselves before they may move real money.
create table onboardings (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null
    check (status in ('submitted', 'in_review', 'needs_information', 'approved', 'rejected', 'withdrawn', 'expired')),
  legal_name text not null check (char_length(legal_name) between 1 and 200),
  legal_form text not null check (char_length(legal_form) between 1 and 100),
  register_number text not null check (char_length(register_number) between 1 and 50),
  address jsonb not null,
  website text check (website ~~ 'https://%' and char_length(website) <= 2048),
  intended_use text not null check (char_length(intended_use) between 1 and 1000),
  expected_monthly_volume_cents bigint not null check (expected_monthly_volume_cents > 0),
  -- Each time that the operator has asked, with the questions and the answer.
  information_requests jsonb not null check (jsonb_typeof(information_requests) = 'array'),
  reason text check (char_length(reason) between 1 and 1000),
  ended_at timestamptz(3),
  due_at timestamptz(3),
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check (status in ('approved', 'rejected', 'withdrawn', 'expired') = (ended_at is not null)),
  check ((status = 'rejected') = (reason is not null)),
  check ((status = 'needs_information') <= (due_at is not null)),
  check (status in ('submitted', 'needs_information') or due_at is null)
);
-- One at a time: two would be decided differently.
create unique index onboardings_open on onboardings (owner_id, mode)
  where status in ('submitted', 'in_review', 'needs_information');
create index onboardings_by_status on onboardings (owner_id, mode, status, id);
-- The operator sees those of all owners, and names one by its id alone.
create unique index onboardings_by_id on onboardings (id);
create index onboardings_of_all_by_status on onboardings (status, id);
create index onboardings_due on onboardings (mode, due_at)
  where status in ('submitted', 'in_review', 'needs_information');
create index onboardings_with_a_run on onboardings (id)
  where status in ('submitted', 'in_review', 'needs_information');

-- The people who act for a company.
create table onboarding_representatives (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  onboarding_id text collate "C" not null,
  ordinal integer not null check (ordinal >= 0),
  name text not null check (char_length(name) between 1 and 200),
  date_of_birth date not null check (date_of_birth >= '1900-01-01'::date),
  country text not null check (char_length(country) = 2),
  position text check (char_length("position") >= 1 and char_length("position") <= 200),
  status text not null check (status in ('none', 'pending', 'in_review', 'verified', 'rejected')),
  -- The row stays, as what was sent about the person belongs to it.
  removed_at timestamptz(3),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, onboarding_id)
    references onboardings (owner_id, mode, id) deferrable initially deferred
);
create index onboarding_representatives_in_order on onboarding_representatives (owner_id, mode, onboarding_id,
  ordinal);

-- The people who own a company.
create table onboarding_beneficial_owners (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  onboarding_id text collate "C" not null,
  ordinal integer not null check (ordinal >= 0),
  name text not null check (char_length(name) between 1 and 200),
  date_of_birth date not null check (date_of_birth >= '1900-01-01'::date),
  country text not null check (char_length(country) = 2),
  share_percent double precision not null
    check (share_percent >= 0::double precision and share_percent <= 100::double precision),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, onboarding_id)
    references onboardings (owner_id, mode, id) deferrable initially deferred
);
create index onboarding_beneficial_owners_in_order on onboarding_beneficial_owners (owner_id, mode, onboarding_id,
  ordinal);

-- What people send to show who they are.
create table kyc_submissions (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  representative_id text collate "C",
  status text not null check (status in ('pending', 'in_review', 'verified', 'rejected')),
  provider text not null,
  name text not null check (char_length(name) between 1 and 200),
  date_of_birth date not null check (date_of_birth >= '1900-01-01'::date),
  nationality text not null check (char_length(nationality) = 2),
  address jsonb not null,
  calls integer not null check (calls >= 0),
  rejection jsonb,
  decided_by text check (decided_by in ('provider', 'operator')),
  decided_at timestamptz(3),
  contradicted_at timestamptz(3),
  due_at timestamptz(3),
  workflow_id text not null,
  primary key (owner_id, mode, id),
  check ((status = 'rejected') = (rejection is not null)),
  check (status in ('verified', 'rejected') = (decided_at is not null)),
  check ((decided_at is null) = (decided_by is null)),
  check (status in ('pending', 'in_review') or due_at is null),
  check (status <> 'pending' or due_at is not null),
  check (contradicted_at is null or decided_by = 'provider'),
  foreign key (owner_id, mode, representative_id)
    references onboarding_representatives (owner_id, mode, id) deferrable initially deferred
);
-- One at a time for a person: two would be decided differently.
create unique index kyc_submissions_open on kyc_submissions (owner_id, mode, coalesce(representative_id, ''))
  where status in ('pending', 'in_review');
create index kyc_submissions_by_status on kyc_submissions (owner_id, mode, status, id);
create index kyc_submissions_by_representative on kyc_submissions (owner_id, mode, representative_id, id);
-- The operator sees those of all owners; the provider names one by its id alone.
create unique index kyc_submissions_by_id on kyc_submissions (id);
create index kyc_submissions_of_all_by_status on kyc_submissions (status, id);
create index kyc_submissions_due on kyc_submissions (mode, due_at) where status in ('pending', 'in_review');
create index kyc_submissions_with_a_run on kyc_submissions (id) where status in ('pending', 'in_review');

-- The documents that prove it. The files themselves lie beside the database.
create table kyc_documents (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  submission_id text collate "C",
  kind text not null
    check (kind in ('passport', 'identity_card_front', 'identity_card_back', 'proof_of_address', 'register_extract')),
  type text not null check (type in ('application/pdf', 'image/jpeg', 'image/png')),
  bytes integer not null check (bytes > 0),
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  erase_at timestamptz(3),
  erased_at timestamptz(3),
  primary key (owner_id, mode, id),
  -- What no submission names always has an end.
  check (submission_id is not null or erase_at is not null or erased_at is not null),
  check (erased_at is null or erase_at is null),
  foreign key (owner_id, mode, submission_id)
    references kyc_submissions (owner_id, mode, id) deferrable initially deferred
);
create index kyc_documents_of_submission on kyc_documents (owner_id, mode, submission_id, id)
  where submission_id is not null;
create index kyc_documents_unused on kyc_documents (owner_id, mode) where submission_id is null and erased_at is null;
-- The operator names one by its id alone.
create unique index kyc_documents_by_id on kyc_documents (id);
create index kyc_documents_due on kyc_documents (mode, erase_at) where erase_at is not null;
