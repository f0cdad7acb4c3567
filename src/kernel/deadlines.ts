import { type Areas, type Registered, registered } from './area.ts'
import { clock } from './clock.ts'
import type { Mode, Tenant } from './context.ts'
import { type Database, type Row, type Sql, sqlOn } from './database.ts'
import type { Deadline } from './deadline.ts'
import type { Execute } from './execute.ts'
import { emptyJournal, writeJournal } from './journal.ts'
import { workflowIdOf } from './process.ts'
import { moveOffset } from './tenant-clock.ts'
import { type Woken, wakeUp } from './words.ts'

interface Overdue extends Record<string, unknown> {
  readonly id: string
  readonly owner_id: string
  readonly mode: Mode
}

const AT_ONCE = 1_000

/** Nobody's clock is behind ours; some tenants have moved theirs ahead. */
const overdueOf = ({ table, record, due, open }: Deadline): string => `
select id, owner_id, mode from (
  (select ${record} as id, owner_id, mode, ${due} as due from ${table}
   where ${open} and mode in ('test', 'live') and ${due} <= clock_timestamp() order by ${due} limit ${AT_ONCE})
  union
  (select t.${record}, t.owner_id, t.mode, t.${due} from tenant_clocks c join ${table} t using (owner_id, mode)
   where ${open} and t.${due} <= clock_timestamp() + c.offset_ms * interval '1 millisecond'
   order by t.${due} limit ${AT_ONCE})
) as overdue order by due, id limit ${AT_ONCE}`

const nextOf = ({ table, due, open }: Deadline): string => `
select min(${due}) as at from ${table}
where owner_id = $1 and mode = $2 and ${open} and ${due} > $3 and ${due} <= $4`

const waitingOf = ({ table, record, open, waits }: Deadline): string => `
select ${record} as id, agent_id as "agentId" from ${table}
where owner_id = $1 and mode = $2 and ${open} and ${waits}`

interface Parts {
  readonly database: Database
  readonly execute: Execute
  readonly areas: Areas
}

function deadlinesOf(areas: Areas) {
  const operations = new Map(registered(areas).map(operation => [operation.key, operation]))
  return Object.entries(areas).flatMap(([noun, area]) =>
    area.deadlines.map(deadline => ({
      deadline,
      operation: operations.get(`${noun}.${deadline.operation}`) as Registered,
    })),
  )
}

/** Ends what is overdue, oldest first; what a process is late for is done here, and the process finds it done. */
export async function endOverdue({ database, execute, areas }: Parts): Promise<void> {
  const sql = sqlOn(database.pool)
  for (const { deadline, operation } of deadlinesOf(areas)) {
    const text = overdueOf(deadline)
    const end = ({ id, owner_id, mode }: Overdue) =>
      execute({
        operation,
        actor: processOf({ ownerId: owner_id, mode }),
        input: { params: { id }, query: {}, body: {} },
        requestId: `deadline:${workflowIdOf(deadline.process, id)}`,
        address: null,
        idempotencyKey: null,
      })
    let overdue: Overdue[]
    do {
      overdue = await sql<Overdue>(text)
      await Promise.all(overdue.map(end))
    } while (overdue.length === AT_ONCE)
  }
}

const processOf = (tenant: Tenant) =>
  ({ type: 'process', id: null, tenant, agentId: null, scopes: new Set<string>(), clockOffsetMs: 0 }) as const

/** Moves a tenant's clock forward by way of every instant at which something falls due, in order. */
export async function advance(
  parts: Parts,
  tenant: Tenant,
  offset: { from: number; by: number },
): Promise<Date> {
  const sql = sqlOn(parts.database.pool)
  const target = clock.tenant(offset.from + offset.by)
  let at = clock.tenant(offset.from)
  for (;;) {
    const next = await nextInstant(sql, parts.areas, tenant, at, target)
    at = next ?? target
    await moveOffset(sql, tenant, at.getTime() - clock.milliseconds())
    await endOverdue(parts)
    if (!next) break
  }
  await wakeWaiting(sql, parts.areas, tenant)
  return target
}

async function nextInstant(sql: Sql, areas: Areas, { ownerId, mode }: Tenant, after: Date, until: Date) {
  const instants: Date[] = []
  for (const { deadline } of deadlinesOf(areas)) {
    const [row] = await sql<{ at: Date | null }>(nextOf(deadline), [ownerId, mode, after, until])
    if (row?.at) instants.push(row.at)
  }
  return instants.sort((one, other) => one.getTime() - other.getTime())[0]
}

/** Every process of the tenant that still waits measures its time by the clock as it is now. */
async function wakeWaiting(sql: Sql, areas: Areas, tenant: Tenant): Promise<void> {
  const journal = emptyJournal()
  for (const { deadline } of deadlinesOf(areas)) {
    const waiting = await sql<Woken & Row>(waitingOf(deadline), [tenant.ownerId, tenant.mode])
    journal.outbox.push(...waiting.map(record => wakeUp(deadline.process, tenant, record)))
  }
  await writeJournal(sql, journal)
}
