-- Writes what a batch has learned about agents whose counters it holds: profiles, merchants, risk events, alerts.
create or replace function risk_write(of_owner text, of_mode text, at timestamptz, profiles jsonb, met jsonb, notes jsonb,
  alerts jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into risk_profiles as kept (owner_id, mode, agent_id, amounts, hours, last_country, last_at, minute, counts)
  select of_owner, of_mode, p."agentId", p.amounts, p.hours, p."lastCountry", p."lastAt", p.minute, p.counts
  from jsonb_to_recordset(profiles) as p ("agentId" text, amounts bigint[], hours int[], "lastCountry" text,
    "lastAt" timestamptz, minute bigint, counts int[])
  on conflict (owner_id, mode, agent_id) do update set amounts = excluded.amounts, hours = excluded.hours,
    last_country = excluded.last_country, last_at = excluded.last_at, minute = excluded.minute,
    counts = excluded.counts;
  insert into risk_merchants (owner_id, mode, agent_id, merchant)
  select of_owner, of_mode, m."agentId", m.merchant
  from jsonb_to_recordset(met) as m ("agentId" text, merchant text) on conflict do nothing;
  if notes = '[]' and alerts = '[]' then
    return;
  end if;
  insert into risk_events (id, owner_id, mode, created_at, updated_at, agent_id, outcome, score, signals,
    subject_type, subject_id, decision_id, alert_id, amount_cents, merchant)
  select n.id, of_owner, of_mode, at, at, n."agentId", n.outcome, n.score, n.signals, n."subjectType",
    n."subjectId", n."decisionId", n."alertId", n."amountEuros", n.merchant
  from jsonb_to_recordset(notes) as n (id text, "agentId" text, outcome text, score int, signals jsonb,
    "subjectType" text, "subjectId" text, "decisionId" text, "alertId" text, "amountEuros" bigint, merchant text);
  insert into risk_alerts (id, owner_id, mode, created_at, updated_at, agent_id, status, score, signals,
    subject_type, subject_id, merchant_key)
  select a.id, of_owner, of_mode, at, at, a."agentId", a.status, a.score, a.signals, a."subjectType",
    a."subjectId", a."merchantKey"
  from jsonb_to_recordset(alerts) as a (id text, "agentId" text, status text, score int, signals jsonb,
    "subjectType" text, "subjectId" text, "merchantKey" text);
end $$;
