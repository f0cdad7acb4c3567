-- Reads all that a batch needs to know about these agents and the merchants beside them. Each row is found by its key,
-- however young the tables are: that is what the lateral is for.
create or replace function risk_open(of_owner text, of_mode text, agents text[], merchants text[],
  out config jsonb, out profiles jsonb, out known jsonb) language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  select jsonb_build_object('enabled', c.enabled, 'review', c.review_from, 'deny', c.deny_from,
    'freeze', c.freeze_from, 'weights', c.weights, 'velocityWindowMinutes', c.velocity_window_minutes, 'velocityCount', c.velocity_count)
  into config from risk_configs c where (c.owner_id, c.mode) = (of_owner, of_mode);
  select coalesce(jsonb_agg(jsonb_build_object('agentId', p.agent_id, 'amounts', p.amounts, 'hours', p.hours,
    'lastCountry', p.last_country, 'lastAt', p.last_at, 'minute', p.minute, 'counts', p.counts)), '[]')
  into profiles from risk_profiles p
  where (p.owner_id, p.mode) = (of_owner, of_mode) and p.agent_id = any(agents);
  select coalesce(jsonb_agg(w.agent_id || ' ' || w.merchant), '[]')
  into known from (select distinct * from unnest(agents, merchants)) as w (agent_id, merchant)
  cross join lateral (
    select from risk_merchants m
    where (m.owner_id, m.mode, m.agent_id, m.merchant) = (of_owner, of_mode, w.agent_id, w.merchant) limit 1) as met;
end $$;
