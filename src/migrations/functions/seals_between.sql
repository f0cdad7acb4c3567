-- The seals of the entries between two positions of a tenant's trail, without the second one: a row for each entry.
create or replace function seals_between(of_owner text, of_mode text, first bigint, until bigint)
returns table (owner_id text, mode text, "position" bigint, event_id text, leaf bytea, salts jsonb, commitments jsonb)
language sql stable as $$
  select s.owner_id, s.mode, s.position + one.n - 1, one.event_id, one.leaf, one.salts, one.commitments
  from audit_seals s
  cross join lateral unnest(s.event_ids, s.leaves, s.salts, s.commitments) with ordinality
    as one(event_id, leaf, salts, commitments, n)
  where s.owner_id = of_owner and s.mode = of_mode and s.position > first - 256 and s.position < until
    and s.position + one.n - 1 >= first and s.position + one.n - 1 < until
$$;
