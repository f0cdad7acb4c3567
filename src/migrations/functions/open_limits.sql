-- Locks the counters that spending on a day needs and those of earlier reservations, and returns them; missing ones are
-- made. Where the owner has a budget, the owner's own counters of these days are among them, with their limits; so are
-- those of the active mandates of `mandates_of`, which are agents, with their terms. The locks are taken in one order:
-- `all` of each agent first, then by subject and period. Where some were missing, those that were there come twice.
create or replace function open_limits(of_owner text, of_mode text, spending text[], on_day date, agents text[],
  cause_types text[], cause_ids text[], mandates_of text[])
  returns table (counter counters, limit_cents bigint, mandate jsonb) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  budget owner_budgets;
  wanted_subjects text[];
  wanted_periods text[];
  held bigint;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('counters|' || of_owner || '|' || of_mode, 0));
  select * into budget from owner_budgets b where (b.owner_id, b.mode) = (of_owner, of_mode);
  if cardinality(cause_ids) > 0 then
    -- Nearly always all are there: what is missing is looked for afterwards.
    perform from (select distinct unnest(agents) as subject order by subject) as w
    cross join lateral (
      select from counters k
      where (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, w.subject, 'all') for update
    ) as one;
    get diagnostics held = row_count;
    if held < cardinality(agents) then
      perform from counters_lock(of_owner, of_mode, agents, array_fill('all'::text, array[cardinality(agents)]));
    end if;
  end if;
  with touched as (
    select unnest(spending) as subject, on_day as day
    union
    select m.id, on_day from mandates m
    where m.owner_id = of_owner and m.mode = of_mode and m.agent_id = any(mandates_of) and m.status = 'active'
    union
    select unnest(r.subjects), r.day
    from unnest(cause_types, cause_ids) as c (type, id)
    cross join lateral (
      select one.subjects, one.day from reservations one
      where (one.owner_id, one.mode, one.cause_type, one.cause_id) = (of_owner, of_mode, c.type, c.id) limit 1
    ) as r
  )
  select array_agg(w.subject order by w.subject, w.period), array_agg(w.period order by w.subject, w.period)
  into wanted_subjects, wanted_periods from (
    select s.subject, p.period
    from (
      select t.subject, t.day from touched t
      union all
      select budget.owner_id, t.day from touched t where budget.owner_id is not null
    ) as s cross join unnest(periods_of(s.day)) as p (period)
    union
    select unnest(agents), 'all'
  ) as w;
  -- The lateral finds each counter by its whole key: a join would read all that the tenant has.
  return query
    select one.k, case when w.subject = of_owner then budget_limit(budget, w.period) end,
      case when w.period = 'all' and starts_with(w.subject, 'mandate_') then
        mandate_terms(of_owner, of_mode, w.subject) end
    from unnest(wanted_subjects, wanted_periods) as w (subject, period)
    cross join lateral (
      select k from counters k
      where (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, w.subject, w.period) for update
    ) as one;
  get diagnostics held = row_count;
  if held < cardinality(wanted_subjects) then
    return query
      select k, case when k.subject = of_owner then budget_limit(budget, k.period) end,
        case when k.period = 'all' and starts_with(k.subject, 'mandate_') then
          mandate_terms(of_owner, of_mode, k.subject) end
      from counters_lock(of_owner, of_mode, wanted_subjects, wanted_periods) as k;
  end if;
end $$;
