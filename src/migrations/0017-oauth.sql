-- Area: control. Assistants that connect by OAuth 2.1, and what each of them was granted.

-- A token that is accepted at one path only; null: everywhere.
alter table agent_tokens add column only_at text check (only_at ~ '^/');

-- Clients that have registered themselves (RFC 7591). They belong to the platform: they name no account.
create table oauth_clients (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null check (char_length(name) between 1 and 200),
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 20),
  -- The address that registered it, which may leave only so many unused.
  client text not null,
  -- Null once a person has connected it.
  unused_until timestamptz(3),
  primary key (owner_id, mode, id)
);
create index oauth_clients_unused on oauth_clients (unused_until) where unused_until is not null;
create index oauth_clients_by_address on oauth_clients (owner_id, mode, client) where unused_until is not null;

-- An assistant that a person has connected to an agent. The secrets are stored as digests.
create table oauth_grants (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('approved', 'connected', 'ended')),
  agent_id text collate "C" not null,
  person_id text collate "C" not null,
  client_id text not null check (char_length(client_id) between 1 and 500),
  client_name text not null check (char_length(client_name) between 1 and 200),
  -- The host of the client's metadata document; null for a client that registered itself.
  client_host text,
  redirect_uri text not null check (char_length(redirect_uri) between 1 and 500),
  resource text not null,
  scopes text[] not null,
  code_hash text not null,
  code_challenge text not null check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  -- All refresh tokens of a grant have the same first part. The second one changes with each use.
  family_hash text,
  refresh_hash text,
  token_id text collate "C",
  mandate_id text collate "C",
  expires_at timestamptz(3) not null,
  -- When the code expires, then when the grant does.
  due_at timestamptz(3),
  ended_at timestamptz(3),
  ended_because text,
  forget_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((status = 'ended') = (ended_at is not null) and (status = 'ended') = (ended_because is not null)),
  check ((status = 'ended') = (forget_at is not null) and (status = 'ended') = (due_at is null)),
  check (status <> 'connected' or num_nulls(family_hash, refresh_hash, token_id) = 0),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, token_id) references agent_tokens (owner_id, mode, id) deferrable initially deferred,
  foreign key (owner_id, mode, mandate_id) references mandates (owner_id, mode, id) deferrable initially deferred
);
create unique index oauth_grants_by_code on oauth_grants (code_hash);
create unique index oauth_grants_by_family on oauth_grants (family_hash) where family_hash is not null;
create index oauth_grants_by_agent on oauth_grants (owner_id, mode, agent_id, id);
create index oauth_grants_by_token on oauth_grants (owner_id, mode, token_id) where status = 'connected';
create index oauth_grants_due on oauth_grants (mode, due_at) where status in ('approved', 'connected');
create index oauth_grants_to_forget on oauth_grants (forget_at) where forget_at is not null;
