-- By how much the numbers in the journal lie ahead of those that this cluster gives next; 0 as a rule.
create or replace function journal_is_ahead_by() returns bigint language plpgsql stable as $$
begin
  return greatest(0, 1 + greatest(
      (select e.written_in from events e where e.written_in >= 0 order by e.written_in desc limit 1),
      (select max(wanted_since) from webhooks),
      (select (position ->> 'below')::bigint - 1 from delivery_position))
    - pg_snapshot_xmax(pg_current_snapshot())::text::bigint - (select added from journal_origin));
end $$;
