-- Area: identity. A change by which more may be spent under a policy that asks several people, or which changes who they are, waits
-- for several people itself.
create table change_requests (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  status text not null check (status in ('waiting', 'applied', 'rejected', 'outdated')),
  policy_id text collate "C",
  agent_id text,
  person_id text collate "C",
  -- What is carried out with the last approval.
  write jsonb not null check (jsonb_typeof(write) = 'object'),
  -- What people sign.
  changes jsonb not null check (jsonb_typeof(changes) = 'array'),
  approval jsonb not null check (jsonb_typeof(approval) = 'object'),
  proposed_by jsonb not null,
  reason text,
  expires_at timestamptz(3) not null,
  primary key (owner_id, mode, id)
);
create index change_requests_waiting on change_requests (owner_id, mode, id) where status = 'waiting';
