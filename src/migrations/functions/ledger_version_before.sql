-- The last version of an account that was booked before an instant, 0 if none was. Entries are booked in the order of their
-- versions, so halving the versions finds it: no index by time is needed.
create or replace function ledger_version_before(of_account text, instant timestamptz) returns bigint
  language plpgsql stable as $$
declare
  low bigint := 0;
  high bigint;
  middle bigint;
  entry record;
  last_before bigint := 0;
begin
  select e.version, e.booked_at into entry from ledger_entries e
  where e.account_id = of_account order by e.version desc limit 1;
  if entry.booked_at < instant then
    return entry.version;
  end if;
  high := entry.version - 1;
  while low < high loop
    middle := (low + high + 1) / 2;
    select e.version, e.booked_at into entry from ledger_entries e
    where e.account_id = of_account and e.version > low and e.version <= middle order by e.version desc limit 1;
    if entry.booked_at >= instant then
      high := entry.version - 1;
    else
      last_before := coalesce(entry.version, last_before);
      low := middle;
    end if;
  end loop;
  return last_before;
end $$;
