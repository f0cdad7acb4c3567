-- Makes this cluster's transactions follow those that the journal knows; returns whether they did not. A dump that is
-- restored into another cluster brings numbers of transactions that this one has yet to reach: what is written now would
-- stand before them, and nobody who follows the journal would see it.
create or replace function continue_journal() returns boolean language plpgsql as $$
declare
  missing bigint := journal_is_ahead_by();
begin
  if missing = 0 then
    return false;
  end if;
  update journal_origin set added = added + missing;
  execute (select format('alter table events alter column written_in set default (pg_current_xact_id()::text::bigint + %s)', added)
    from journal_origin);
  return true;
end $$;
