-- Sets statistics where PostgreSQL has not analysed a table yet: one owner has all rows, and a column that may be null is
-- null in half of them. By default it assumes two hundred owners and hardly a null: a table that fills before it is
-- analysed would then be read by tenant, in foreign keys too, and not by key; and the list of what has not been deleted
-- would be sorted, as if it were a single row.
create or replace function expect_statistics(of_table regclass) returns void language plpgsql as $$
begin
  perform pg_restore_attribute_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'attname', a.attname::text,
    'inherited', c.relkind = 'p', 'null_frac', case when a.attnotnull then 0 else 0.5 end::real, 'avg_width', 20,
    'n_distinct', coalesce(expected.values, 0)::real)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join (values ('owner_id', 1), ('mode', 2)) as expected (column_name, values) on a.attname = expected.column_name
  where c.oid = of_table and (not a.attnotnull or expected.values is not null)
    and not exists (
      select from pg_stats s where (s.schemaname, s.tablename, s.attname) = (n.nspname, c.relname, a.attname));
end $$;
