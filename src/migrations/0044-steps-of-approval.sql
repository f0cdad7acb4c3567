-- Area: control. A policy can ask several people, one after another; an intent keeps who has approved.
alter table policies add column approval jsonb not null default '[]' check (jsonb_typeof(approval) = 'array');

-- How far the approvals of a waiting intent have come; null where one person approves.
alter table intents add column approval jsonb;
-- The next reminder, or the end of the step that is asked.
alter table intents add column approval_due_at timestamptz(3);
-- The person who asked for it, as far as the credential tells.
alter table intents add column requester_id text;
create index intents_by_approval_due on intents (mode, approval_due_at)
  where status = 'created' and approval_due_at is not null;
create index intents_with_steps on intents (owner_id, mode, agent_id) where status = 'created' and approval_due_at is not null;

-- The approvals of an intent that waits for more of them, as each person has signed. The proof of all has them in the end.
create table recorded_approvals (
  id text collate "C" not null,
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  intent_id text collate "C" not null,
  person_id text not null,
  person_name text not null,
  signed jsonb not null check (jsonb_typeof(signed) = 'object'),
  openings jsonb not null check (jsonb_typeof(openings) = 'object'),
  primary key (owner_id, mode, id),
  foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
);
create unique index recorded_approvals_of_intent on recorded_approvals (owner_id, mode, intent_id, person_id);

-- Who made a token: this person does not approve what is declared with it.
alter table agent_tokens add column person_id text;
update agent_tokens t set person_id = g.person_id
from oauth_grants g where (g.owner_id, g.mode, g.token_id) = (t.owner_id, t.mode, t.id);
