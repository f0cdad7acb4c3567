-- A mandate as spending needs it: whose it is, until when, and what it allows.
create or replace function mandate_terms(of_owner text, of_mode text, of_mandate text) returns jsonb
  language sql stable as $$
    select jsonb_build_object('agentId', m.agent_id, 'personId', m.person_id, 'name', m.name, 'status', m.status, 'expiresAt', m.expires_at,
      'perTransactionCents', m.per_transaction_cents::text, 'perDayCents', m.per_day_cents::text,
      'perMonthCents', m.per_month_cents::text, 'totalCents', m.total_cents::text, 'count', m.count,
      'merchants', m.merchants, 'mccs', m.mccs, 'countries', m.countries, 'forAssistant', m.for_assistant)
    from mandates m where (m.owner_id, m.mode, m.id) = (of_owner, of_mode, of_mandate) limit 1;
  $$;
