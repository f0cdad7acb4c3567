-- Sets statistics where PostgreSQL has not analysed a table yet: one owner has all rows, and a column that may be null is
-- null in half of them. By default it assumes two hundred owners and hardly a null: a table that fills before it is
-- analysed would then be read by tenant, in foreign keys too, and not by key; and the list of what has not been deleted
-- would be sorted, as if it were a single row.
create or replace function expect_statistics(of_table regclass) returns void language plpgsql as $$
declare
  one pg_class;
  schema_name name;
  analysed name[];
begin
  select * into one from pg_class c where c.oid = of_table;
  schema_name := (select n.nspname from pg_namespace n where n.oid = one.relnamespace);
  -- By constants, since a join of this view with the columns would read all of it for each table.
  analysed := array(select s.attname from pg_stats s where s.schemaname = schema_name and s.tablename = one.relname);
  perform pg_restore_attribute_stats('schemaname', schema_name::text, 'relname', one.relname::text, 'attname', a.attname::text,
    'inherited', one.relkind = 'p', 'null_frac', case when a.attnotnull then 0 else 0.5 end::real, 'avg_width', 20,
    'n_distinct', coalesce(expected.values, 0)::real)
  from pg_attribute a
  left join (values ('owner_id', 1), ('mode', 2)) as expected (column_name, values) on a.attname = expected.column_name
  where a.attrelid = of_table and a.attnum > 0 and not a.attisdropped
    and (not a.attnotnull or expected.values is not null) and a.attname <> all (analysed);
end $$;
