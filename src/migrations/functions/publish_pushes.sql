-- Makes a push of each event for every browser that wants it, in the transaction of the event; returns how many. The
-- creation of an intent that is decided in the same batch is not pushed: nobody has to decide about it.
create or replace function publish_pushes(written jsonb, owners text[]) returns integer
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  made integer;
begin
  -- Most owners have no browser subscribed: for them this is all.
  if not exists (select from push_subscriptions s where s.owner_id = any(owners)) then
    return 0;
  end if;
  with happened as (
    select * from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
  )
  insert into pushes (owner_id, mode, subscription_id, event_id, created_at)
  select s.owner_id, s.mode, s.id, e.id, clock_timestamp()
  from happened e join push_subscriptions s on s.owner_id = e."ownerId" and s.mode = e.mode
  -- The last approval of a step asks the people of the next one, as an escalation does.
  where s.events && case e.data ->> 'beginsStep'
      when 'true' then array['*', e.event, replace(e.event, '_recorded', '_escalated')] else array['*', e.event] end
    and (s.expires_at is null or s.expires_at > clock_timestamp())
    and not (e.event = 'intent.created' and exists (
      select from happened decided where decided.event in ('intent.approved', 'intent.denied')
        and decided.data ->> 'intentId' = e.data ->> 'intentId'))
  -- A subscription that is being deleted gets nothing more, and does not fail the transaction of the event.
  for key share of s skip locked;
  get diagnostics made = row_count;
  return made;
end $$;
