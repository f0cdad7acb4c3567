import type { TestService } from './harness.ts'

type Queryable = Pick<TestService, 'sql'>

const TRACE = `
with e as (select id, event, xmin::text as x from events where request_id = $1),
  a as (select id, action, xmin::text as x from audit_entries where request_id = $1)
select array(select event from e order by id) as events,
  array(select distinct action from a) as actions,
  (select count(*)::int from a) as entries`

/** The events and audit entries that a request wrote. */
export async function traceOf({ sql }: Queryable, { headers }: { headers: Headers }) {
  const [trace] = await sql(TRACE, [headers.get('x-request-id')])
  return trace
}

/** How many transactions wrote the record, its events and its audit entries. */
export async function transactionCount(
  { sql }: Queryable,
  { headers }: { headers: Headers },
  table: string,
  id: string,
): Promise<number> {
  const journal = ['events', 'audit_entries'].map(
    name => `select xmin::text from ${name} where request_id = $1`,
  )
  const all = [...journal, `select xmin::text from ${table} where id = $2`].join(' union ')
  return (await sql(all, [headers.get('x-request-id'), id])).length
}

/** The tables that contain a text anywhere. */
export async function tablesWith({ sql }: Queryable, text: string): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  )
  const matches = tables.map(async ({ name }) => {
    const rows = await sql(`select 1 from "${name}" t where strpos(t::text, $1) > 0 limit 1`, [text])
    return rows.length > 0 ? [name] : []
  })
  return (await Promise.all(matches)).flat()
}
