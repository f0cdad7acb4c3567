import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'

/** An event that stands where everything is sealed, and is not; `position` is where it would be. */
interface Stray {
  readonly id: string
  readonly position: number
}

/** How many events are looked up at once: each statement takes far less time than the database gives it. */
const PAGE = 10_000

const STRAYS = `
with page as materialized (
  select e.id, e.written_in from events e where e.owner_id = $1 and e.mode = $2 and e.id > $3 order by e.id limit ${PAGE}
), stray as (
  select e.id, (select s.position from audit_seals s where s.owner_id = $1 and s.mode = $2 and s.event_id > e.id
    order by s.event_id limit 1) as position
  from page e, audit_sealing f
  where (e.written_in, e.id) <= (f.written_in, f.id) and e.written_in <> all(f.open) and not exists (
    select from audit_seals s where (s.owner_id, s.mode, s.event_id) = ($1, $2, e.id))
  order by e.id limit 1
)
select (select max(id) from page) as last, (select count(*) from page)::int as count, stray.id,
  coalesce(stray.position, (
    select max(s.position) + 1 from audit_seals s where s.owner_id = $1 and s.mode = $2), 0)::float8 as position
from (select) one left join stray on true`

interface PageRow extends Record<string, unknown> {
  readonly last: string | null
  readonly count: number
  readonly id: string | null
  readonly position: number
}

/** The first event of a trail that was added to what is sealed. */
export async function findStray(sql: Sql, { ownerId, mode }: Tenant): Promise<Stray | undefined> {
  for (let after: string | null = ''; after !== null; ) {
    const [page]: readonly PageRow[] = await sql<PageRow>(STRAYS, [ownerId, mode, after])
    if (page?.id != null) return { id: page.id, position: page.position }
    after = page?.count === PAGE ? page.last : null
  }
  return undefined
}
