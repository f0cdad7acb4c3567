-- Makes a message of each event that needs a person for every verified channel of the account, in the transaction of the event;
-- returns how many. Each event that asks is a line of `questions`: its kind, the record that it is about, and the states of a
-- member in which it asks. The sender decides who is asked, when the message is about to leave.
create or replace function publish_channel_messages(written jsonb, owners text[]) returns integer
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  made integer;
begin
  -- Most owners have no channel: for them this is all.
  if not exists (select from channels c where c.owner_id = any(owners) and c.verified_at is not null) then
    return 0;
  end if;
  with happened as (
    select * from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
  ), questions (event, kind, subject, member, states) as (
    values ('intent.created', 'intent', 'intentId', 'status', array['created']),
      ('intent.approval_recorded', 'intent', 'intentId', 'beginsStep', array['true']),
      ('intent.approval_escalated', 'intent', 'intentId', 'status', array['created']),
      ('intent.approval_reminder', 'intent', 'intentId', 'status', array['created']),
      ('card_limit_request.updated', 'card_request', 'requestId', 'status', array['pending']),
      ('card_limit_request.approval_recorded', 'card_request', 'requestId', 'beginsStep', array['true']),
      ('card_limit_request.approval_escalated', 'card_request', 'requestId', 'status', array['pending']),
      ('card_limit_request.approval_reminder', 'card_request', 'requestId', 'status', array['pending']),
      ('change_request.created', 'change_request', 'changeRequestId', 'status', array['waiting']),
      ('payment.updated', 'transfer', 'transferId', 'waitsFor', array['payee']),
      ('person.recovery_started', 'recovery', 'personId', 'status', array['invited', 'active'])
  )
  insert into channel_messages (owner_id, mode, id, kind, subject_id, channel_id, person_id, created_at, due_at)
  select c.owner_id, c.mode, e.id || '.' || c.id, q.kind, e.data ->> q.subject, c.id, c.person_id, clock_timestamp(),
    clock_timestamp()
  from happened e
  join questions q on q.event = e.event and e.data ->> q.member = any(q.states)
  join channels c on c.owner_id = e."ownerId" and c.mode = e.mode and c.verified_at is not null
  -- The creation of an intent that is decided in the same batch asks no one.
  where not (e.event = 'intent.created' and exists (
    select from happened decided where decided.event in ('intent.approved', 'intent.denied')
      and decided.data ->> 'intentId' = e.data ->> 'intentId'))
    -- The sender's limit: however many intents an agent declares, a person who gets no more this hour has no further rows.
    and (q.kind = 'recovery' or not exists (
      select from channel_hours h
      where (h.owner_id, h.mode, h.person_id, h.kind) = (c.owner_id, c.mode, c.person_id, 'questions')
        and h.hour = date_trunc('hour', clock_timestamp(), 'UTC') and h.used >= 20));
  get diagnostics made = row_count;
  return made;
end $$;
