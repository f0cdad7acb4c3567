-- Locks these counters in the order of their keys, and makes those that are missing.
create or replace function counters_lock(of_owner text, of_mode text, subjects text[], periods text[]) returns setof counters
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into counters (owner_id, mode, subject, period)
  select of_owner, of_mode, w.subject, w.period from unnest(subjects, periods) as w (subject, period)
  where not exists (select from counters k
    where (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, w.subject, w.period))
  order by w.subject, w.period on conflict do nothing;
  -- The lateral finds each counter by its whole key: a join would read all that the tenant has.
  return query
    select one.* from (
      select distinct * from unnest(subjects, periods) as each (subject, period) order by subject, period
    ) as w
    cross join lateral (
      select k.* from counters k
      where (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, w.subject, w.period) for update
    ) as one;
end $$;
