-- As processes of the version before mandates call it, while a new version is deployed beside them.
create or replace function open_counters(of_owner text, of_mode text, spending text[], on_day date, agents text[],
  cause_types text[], cause_ids text[]) returns table (counter counters, limit_cents bigint) language sql
  begin atomic
    select l.counter, l.limit_cents
    from open_limits(of_owner, of_mode, spending, on_day, agents, cause_types, cause_ids, '{}') as l;
  end;
