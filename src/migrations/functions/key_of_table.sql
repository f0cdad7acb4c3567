-- The columns by which the rows of a tenant's table are read in pages, each with its type: the primary key without the column
-- that names the owner, and with the mode. Empty where the owner has one row.
create or replace function key_of_table(of_table text, owner_column text)
returns table (columns text[], types text[]) language sql stable set search_path = public, pg_temp as $$
  with key as (
    select a.attname::text as name, format_type(a.atttypid, null) as type, k.place
    from pg_index i cross join lateral unnest(i.indkey::int2[]) with ordinality as k(number, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where i.indrelid = of_table::regclass and i.indisprimary and a.attname <> owner_column
    union
    select 'mode', 'text', 0 from pg_attribute
    where attrelid = of_table::regclass and attname = 'mode' and owner_column <> 'id' and not exists (
      select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey::int2[])
      where i.indrelid = of_table::regclass and i.indisprimary and a.attname = 'mode')
  )
  select coalesce(array_agg(name order by place), '{}'), coalesce(array_agg(type order by place), '{}') from key
$$;

revoke execute on function key_of_table from public;
