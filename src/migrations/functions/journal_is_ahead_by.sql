-- By how much the numbers in the journal lie ahead of those that this cluster gives next; 0 as a rule.
create or replace function journal_is_ahead_by() returns bigint language sql stable as $$
  select greatest(0, coalesce((select written_in from events where written_in >= 0 order by written_in desc limit 1), 0) + 1
    - pg_snapshot_xmax(pg_current_snapshot())::text::bigint - (select added from journal_origin))
$$;
