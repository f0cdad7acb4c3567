-- The events of a call have ids that follow each other. So one entry for a call is enough in the indexes by request, agent and
-- record: it leads to the others. See docs/decisions/0028-one-entry-for-a-call.md.

-- Area: kernel. Whether an earlier event of the call has the same one.
alter table events
  add column same_request boolean not null default false,
  add column same_agent boolean not null default false,
  add column same_resource boolean not null default false;

drop index events_by_request, events_by_agent, events_by_resource;
create index events_by_request on events (owner_id, mode, request_id, id) where not same_request;
create index events_by_agent on events (agent_id, id) where agent_id is not null and not same_agent;
-- Every row has a record. The condition keeps PostgreSQL from looking up an id here by skipping from one record to the next.
create index events_by_resource on events (resource_id, id) where resource_id is not null and not same_resource;

-- Area: control. The approved intents of an agent are found by `intents_payable`: they are few, as each holds money.
drop index intents_of_agent_by_status;
create index intents_of_agent_by_status on intents (agent_id, status, id)
  where status <> 'completed' and status <> 'approved';
