-- A lower bound in the order of ids: every id made at this instant or later sorts after it.
create or replace function first_id_at(prefix text, at timestamptz) returns text language sql immutable as $$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (((extract(epoch from at) * 1000)::bigint >> 45 - 5 * n) & 31)::int, 1), ''
    order by n)
  from generate_series(0, 9) as n
$$;
