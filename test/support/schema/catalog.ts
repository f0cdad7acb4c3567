import type pg from 'pg'

/** Queries whose lines describe a database independently of the order of its creation. */
const QUESTIONS = [
  `select format('column %s.%s %s collate %s not null %s default %s identity %s storage %s', c.relname, a.attname,
    format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
    a.attidentity, a.attstorage)
   from pg_attribute a join pg_class c on c.oid = a.attrelid
   left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
   where OURS and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  `select format('table %s kind %s %s partition by %s with %s', c.relname, c.relkind, c.relpersistence,
    pg_get_partkeydef(c.oid), c.reloptions) from pg_class c where OURS and c.relkind in ('r', 'p', 'v', 'm')`,
  `select format('constraint %s of %s %s', k.conname, c.relname, pg_get_constraintdef(k.oid))
   from pg_constraint k join pg_class c on c.oid = k.conrelid where OURS and k.contype <> 'n'`,
  `select pg_get_indexdef(c.oid) || format(' with %s', c.reloptions) from pg_class c where OURS and c.relkind in ('i', 'I')`,
  `select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid where OURS and not t.tgisinternal`,
  `select format('sequence %s %s', c.relname, to_jsonb(s) - 'seqrelid') from pg_sequence s
   join pg_class c on c.oid = s.seqrelid where OURS`,
  `select pg_get_functiondef(c.oid) || format(' granted %s', c.proacl) from pg_proc c
   where c.pronamespace = 'public'::regnamespace`,
  `select format('granted on %s %s %s', c.relname, a.attname, one) from pg_class c
   left join pg_attribute a on a.attrelid = c.oid and a.attacl is not null,
   unnest(coalesce(a.attacl, c.relacl)) as one where OURS`,
  `select format('granted in future %s', defaclacl) from pg_default_acl`,
  `select format('row security of %s', c.relname) from pg_class c where OURS and c.relrowsecurity`,
  `select format('comment %s', d.description) from pg_description d join pg_class c on c.oid = d.objoid where OURS`,
]

/** Tables with rows before any request, and columns with their time. */
const SEEDED = ['customers', 'journal_origin', 'spend_position', 'audit_sealing']
const TIMES = `- 'created_at' - 'updated_at'`

/** Partitions are created over time. */
const OURS = `c.relnamespace = 'public'::regnamespace and not c.relispartition and c.oid not in (
  select inhrelid from pg_inherits) and c.relname not like 'events\\_20%'`

/** A schema without its partitions, as lines that are equal for equal schemas. */
export async function describeSchema(client: pg.Client): Promise<string[]> {
  const lines: string[] = []
  for (const question of QUESTIONS) {
    const rows = await client.query({ text: question.replaceAll('OURS', OURS), rowMode: 'array' })
    lines.push(...rows.rows.map(([line]) => String(line)))
  }
  for (const table of SEEDED) {
    const { rows } = await client.query(`select (to_jsonb(t) ${TIMES})::text as row from ${table} t`)
    lines.push(...rows.map(({ row }) => `row of ${table} ${row}`))
  }
  return lines.sort()
}
