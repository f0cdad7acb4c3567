-- By how many milliseconds, in whole seconds, a test tenant's clock has been moved since an event.
create or replace function clock_ahead(of_owner text, of_mode text, created_at timestamptz, recorded_at timestamptz)
returns float8 language sql stable as $$
  select coalesce((select greatest(0, round((c.offset_ms - extract(epoch from created_at - recorded_at) * 1000) / 1000) * 1000)
    from tenant_clocks c where (c.owner_id, c.mode) = (of_owner, of_mode)), 0)::float8
$$;
