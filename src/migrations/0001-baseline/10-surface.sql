-- Area: surface. What the assistant and the tools of assistants keep.

-- What people and programs have asked in sentences.
create table conversations (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  agent_id text collate "C",
  -- Whoever asks: nobody else reads it.
  caller_id text collate "C" not null,
  title text not null,
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index conversations_by_caller on conversations (owner_id, mode, caller_id, id);

-- Each question with its answer.
create table conversation_turns (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  conversation_id text collate "C" not null,
  message text not null,
  -- Null until the answer is at its end: the service was stopped before that, or somebody went away.
  lines jsonb,
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, conversation_id)
    references conversations (owner_id, mode, id) on delete cascade deferrable initially deferred
);
create index conversation_turns_in on conversation_turns (owner_id, mode, conversation_id, id);

-- What somebody who may not do it proposes: an operation with its input, which a person applies.
create table proposals (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The agent whose token proposes; null for a key or a person.
  agent_id text collate "C",
  operation text not null,
  input jsonb not null,
  -- Of the operation and its input: the same one is proposed once while it is open.
  hash text collate "C" not null check (hash ~ '^[A-Za-z0-9_-]{43}$'),
  summary text not null,
  reason text,
  changes jsonb not null,
  effect jsonb,
  record_id text collate "C",
  -- What it was made of, as a digest: null where it is about nothing that there was.
  basis text,
  takes_passkey boolean not null,
  proposed_by jsonb not null,
  proposer_id text collate "C" not null,
  status text not null check (status in ('open', 'applying', 'applied', 'dismissed', 'expired', 'outdated', 'failed')),
  expires_at timestamptz(3) not null,
  -- When the sweep has something to do; null once it has ended.
  due_at timestamptz(3),
  tries integer not null check (tries >= 0),
  -- Who applies it, with what was sent along: until the outcome is known.
  attempt jsonb,
  refusal jsonb,
  result_id text collate "C",
  decided_by jsonb,
  decided_at timestamptz(3),
  primary key (owner_id, mode, id),
  check (expires_at > created_at),
  check (status in ('open', 'applying') = (due_at is not null)),
  foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
);
create index proposals_open on proposals (owner_id, mode, proposer_id, id) where status = 'open';
create index proposals_by_status on proposals (owner_id, mode, status, id);
create index proposals_by_agent on proposals (owner_id, mode, agent_id, id) where agent_id is not null;
create index proposals_due on proposals (mode, due_at) where status in ('open', 'applying');

-- Calls by the tools of assistants that name no idempotency key.
create table tool_calls (
  owner_id text not null references customers (id) deferrable initially deferred,
  mode text not null check (mode in ('test', 'live')),
  caller_id text collate "C" not null,
  -- Of the operation and its members.
  hash text collate "C" not null check (hash ~ '^[A-Za-z0-9_-]{43}$'),
  key text not null,
  last_called_at timestamptz(3) not null,
  primary key (owner_id, mode, caller_id, hash)
);
-- Old ones are deleted.
create index tool_calls_by_end on tool_calls (last_called_at);
