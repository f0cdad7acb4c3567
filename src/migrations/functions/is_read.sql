-- Whether an event lies before a position of the journal: see the table `delivery_position`. Stable, as `to_jsonb` is: otherwise
-- PostgreSQL would call it for each event and not write it into the statement.
create or replace function is_read(written_in bigint, event_id text, place jsonb) returns boolean
language sql stable as $$
  select coalesce(written_in < (place ->> 'below')::bigint and not place -> 'open' @> to_jsonb(written_in)
    or written_in = (place ->> 'part')::bigint and event_id collate "C" <= place ->> 'part_id', false)
$$;
