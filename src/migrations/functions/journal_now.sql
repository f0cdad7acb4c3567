-- The position behind every event that this statement can see: see the table `delivery_position`.
create or replace function journal_now() returns jsonb language sql stable as $$
  select jsonb_build_object('below', pg_snapshot_xmax(seen)::text::bigint + added,
    'open', array(select open::text::bigint + added from pg_snapshot_xip(seen) as open))
  from pg_current_snapshot() as seen, journal_origin
$$;
