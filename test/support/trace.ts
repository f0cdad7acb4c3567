import type { TestService } from './harness.ts'

type Queryable = Pick<TestService, 'sql'>

const TRACE = `
with e as (select id, event, action from events where request_id = $1)
select array(select event from e order by id) as events, array(select distinct action from e) as actions,
  (select count(*)::int from e) as entries`

/** The events and audit entries that a request wrote. */
export async function traceOf({ sql }: Queryable, { headers }: { headers: Headers }) {
  const [trace] = await sql(TRACE, [headers.get('x-request-id')])
  return trace
}

export async function transactionCount(
  { sql }: Queryable,
  { headers }: { headers: Headers },
  table: string,
  id: string,
): Promise<number> {
  const all = `select xmin::text from events where request_id = $1 union select xmin::text from ${table} where id = $2`
  return (await sql(all, [headers.get('x-request-id'), id])).length
}

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
