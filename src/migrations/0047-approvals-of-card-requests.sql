-- Area: cards. A policy can ask several people about the limits of a card, as it does about an intent.

-- How far the approvals of a waiting request have come; null where one person approves.
alter table card_requests add column approval jsonb;
-- The next reminder, or the end of the step that is asked.
alter table card_requests add column approval_due_at timestamptz(3);
-- The person who asked for it, as far as the credential tells.
alter table card_requests add column requester_id text;
create index card_requests_by_approval_due on card_requests (mode, approval_due_at)
  where status = 'pending' and approval_due_at is not null;
create index card_requests_with_steps on card_requests (owner_id, mode, agent_id)
  where status = 'pending' and approval_due_at is not null;
