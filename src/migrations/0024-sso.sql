-- Area: identity. People who sign in by the owner's identity provider (OpenID Connect).

create table sso_providers (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null check (char_length(name) between 1 and 200),
  issuer text collate "C" not null check (char_length(issuer) between 1 and 500),
  -- Null until the identity provider has given one.
  client_id text check (char_length(client_id) between 1 and 500),
  -- Sealed. Without a secret, the private key authenticates the client.
  client_secret text,
  private_key text not null,
  public_key jsonb not null,
  groups_claim text not null check (char_length(groups_claim) between 1 and 200),
  owner_groups text[] not null,
  approver_groups text[] not null,
  viewer_groups text[] not null,
  primary key (owner_id, mode, id)
);
create unique index sso_providers_by_issuer on sso_providers (owner_id, mode, issuer);
-- A sign-in link and a redirect name the provider only.
create unique index sso_providers_by_id on sso_providers (id);

-- Who a subject of an identity provider is.
create table sso_subjects (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  provider_id text collate "C" not null,
  person_id text collate "C" not null,
  subject text collate "C" not null check (char_length(subject) between 1 and 255),
  -- The role by the groups of the last sign-in, and the one without groups. Null where no group has decided.
  group_role text check (group_role in ('owner', 'approver', 'viewer')),
  base_role text check (base_role in ('owner', 'approver', 'viewer')),
  primary key (owner_id, mode, id),
  check ((group_role is null) = (base_role is null)),
  foreign key (owner_id, mode, provider_id) references sso_providers (owner_id, mode, id) on delete cascade,
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create unique index sso_subjects_by_subject on sso_subjects (owner_id, mode, provider_id, subject);
create unique index sso_subjects_by_person on sso_subjects (owner_id, mode, person_id, provider_id);

-- A sign-in that has begun in a browser. What proves the browser is stored as a digest.
create table sso_attempts (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  provider_id text collate "C" not null,
  state_hash text not null,
  browser_hash text not null,
  -- The endpoints of the provider, as its metadata named them.
  metadata jsonb not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, provider_id) references sso_providers (owner_id, mode, id) on delete cascade
);
create unique index sso_attempts_by_state on sso_attempts (state_hash);
create index sso_attempts_by_provider on sso_attempts (owner_id, mode, provider_id);
create index sso_attempts_by_end on sso_attempts (expires_at);

-- The key to which the client of an assistant has bound its code.
alter table oauth_grants add column dpop_jkt text check (dpop_jkt ~ '^[A-Za-z0-9_-]{43}$');

-- The identity provider that began the session; null where a passkey or a link did.
alter table console_sessions
  add column sso_provider_id text collate "C",
  drop constraint console_sessions_revoked_because_check,
  add constraint console_sessions_revoked_because_check
    check (revoked_because in ('signed_out', 'ended', 'replaced', 'person', 'passkey', 'sso'));
create index console_sessions_by_sso on console_sessions (owner_id, mode, sso_provider_id)
  where sso_provider_id is not null and revoked_at is null;
