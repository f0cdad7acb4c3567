const TRUNCATE = `
do $$ begin
  execute (select 'truncate ' || string_agg(oid::regclass::text, ', ') from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace);
end $$`

/** Assumptions that PostgreSQL can have about the tables when it plans a statement, each on top of the one before. */
export const BELIEFS: Readonly<Record<string, string>> = {
  'empty tables': `savepoint filled; set local session_replication_role = replica; ${TRUNCATE}`,
  'new tables': `rollback to savepoint filled`,
  'new tables that have been filled': `
    select pg_restore_relation_stats('schemaname', 'public', 'relname', relname::text, 'relpages', 1, 'reltuples', 100000::real)
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  'analysed tables with a few rows': `analyze`,
  'analysed tables of many rows that are alike': `
    select pg_restore_relation_stats('schemaname', 'public', 'relname', c.relname::text, 'relpages', 1, 'reltuples', 100000::real),
      pg_restore_attribute_stats('schemaname', 'public', 'relname', c.relname::text, 'attname', a.attname::text,
        'inherited', false, 'null_frac', case when a.attnotnull then 0 else 1 end::real, 'avg_width', 20, 'n_distinct', 1::real)
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
      and a.attname <> 'id'`,
}
