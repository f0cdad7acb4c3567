import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { onConnection } from '../../../kernel/database/connection.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { retrying } from '../../../kernel/database/retry.ts'
import { emptyJournal, writeJournal } from '../../../kernel/journal/journal.ts'
import { wakeUp } from '../../../kernel/journal/journal-rows.ts'
import { after, clock } from '../../../values/clock.ts'
import { deliveryMachine } from '../delivery.ts'
import {
  type DeliveryRow,
  deliveryColumns,
  type Health,
  healthColumns,
  writeHealth,
  writeMarks,
} from '../delivery-rows.ts'
import { isHopeless, note } from '../health.ts'
import { webhookProcess } from '../process.ts'
import { conclude, type Taken } from './retry.ts'
import { tierOf } from './tiers.ts'

/** What became of a delivery that was ours: an attempt, or it was given back untried. */
export interface Mark {
  readonly id: string
  readonly webhookId: string
  readonly claim: number
  readonly lease: string
  readonly taken: Taken | null
}

/** What follows from marks beyond the deliveries themselves. */
export interface Consequences {
  /** There is work for Temporal. */
  readonly forTemporal: boolean
  /** Subscriptions whose receivers have not taken anything for too long. */
  readonly hopeless: readonly string[]
}

/** What the server loses of this, when it is killed, is delivered once more: no commit waits for the disk. */
const UNHURRIED = 'begin; set local synchronous_commit = off'

type Locked = DeliveryRow & Row & { plan: string; failures: number }

const LOCK = `
select ${deliveryColumns}, c.plan, w.failures from deliveries d
join customers c on c.id = d.owner_id join webhooks w on w.id = d.webhook_id
where d.id = any($1::text[]) order by d.id for update of d`

const LOCK_HEALTH = `
select ${healthColumns} from webhooks w where w.id = any($1::text[]) order by w.id for no key update`

/** The outcomes of many attempts. */
export async function mark(
  database: Database,
  marks: readonly Mark[],
  waitsMs: readonly number[],
): Promise<Consequences> {
  const delivered = await retrying(() => markDelivered(sqlOn(database.pool), marks))
  const others = marks.filter(({ id }) => !delivered.has(id))
  if (others.length === 0) return { forTemporal: false, hopeless: [] }
  return retrying(() =>
    onConnection(database, UNHURRIED, async client => {
      const sql = sqlOn(client)
      const rows = await sql<Locked>(LOCK, [others.map(({ id }) => id)])
      const aheadMs = aheadOf(rows)
      apply(rows, others, waitsMs)
      await writeMarks(sql, rows)
      const hopeless = await noteHealth(sql, { rows, marks, aheadMs })
      // Whoever waits for it in Temporal sees what has become of it.
      const outbox = rows.filter(({ workflowId }) => workflowId).map(processOf)
      await writeJournal(sql, { ...emptyJournal(), outbox })
      await client.query('commit')
      return { forTemporal: outbox.length > 0, hopeless }
    }),
  )
}

const DELIVERED = `
with unhurried as materialized (select set_config('synchronous_commit', 'off', true))
select id from unhurried cross join lateral mark_delivered($1, $2, $3, $4) id`

/** What most of them are: taken, by a receiver with which all is well. Gives which; the others need a closer look. */
async function markDelivered(sql: Sql, marks: readonly Mark[]): Promise<Set<string>> {
  const taken = marks.flatMap(({ id, taken }) => (taken?.succeeded ? [[id, taken.attempt] as const] : []))
  if (taken.length === 0) return new Set()
  const { initial } = deliveryMachine
  const moved = { status: initial }
  deliveryMachine.move(moved, 'delivered')
  const receivers = [...new Set(marks.map(({ webhookId }) => webhookId))]
  const values = [JSON.stringify(Object.fromEntries(taken)), receivers, initial, moved.status]
  const rows = await sql<{ id: string }>(DELIVERED, values)
  return new Set(rows.map(({ id }) => id))
}

const processOf = ({ id, ownerId, mode, event, webhookId }: DeliveryRow) =>
  wakeUp(webhookProcess, { ownerId, mode }, { id, agentId: null, about: `${event} to ${webhookId}` })

function apply(rows: readonly Locked[], marks: readonly Mark[], waitsMs: readonly number[]): void {
  const byId = new Map(marks.map(one => [one.id, one]))
  for (const row of rows) {
    const { claim, lease, taken } = byId.get(row.id) as Mark
    const isMine = row.claims === claim && row.leasedBy === lease
    row.updatedAt = clock.real()
    if (taken) conclude(row, taken, { isMine, tier: tierOf(row.plan, waitsMs) })
    else if (isMine) row.leasedUntil = null
  }
}

interface Noted {
  readonly rows: readonly Locked[]
  readonly marks: readonly Mark[]
  readonly aheadMs: ReadonlyMap<string, number>
}

/** By subscription, how long ago an attempt would have been made had the test clock been moved slowly. */
function aheadOf(rows: readonly Locked[]): Map<string, number> {
  const least = new Map<string, number>()
  for (const { webhookId, aheadMs } of rows)
    least.set(webhookId, Math.min(aheadMs, least.get(webhookId) ?? aheadMs))
  return least
}

/** A round in which one was taken is a good one; where nothing was wrong nothing is written. Gives who is to be given up. */
async function noteHealth(sql: Sql, { rows, marks, aheadMs }: Noted): Promise<string[]> {
  const rounds = new Map<string, boolean>()
  for (const { webhookId, taken } of marks)
    if (taken) rounds.set(webhookId, taken.succeeded || (rounds.get(webhookId) ?? false))
  const known = new Map(rows.map(({ webhookId, failures }) => [webhookId, failures]))
  const news = [...rounds].filter(([id, succeeded]) => !succeeded || (known.get(id) ?? 0) > 0)
  if (news.length === 0) return []
  const now = clock.real()
  const found = await sql<Health & Row>(LOCK_HEALTH, [news.map(([id]) => id)])
  for (const health of found) {
    const tried = after(now, -(aheadMs.get(health.id) ?? 0))
    note(health, rounds.get(health.id) ?? false, tried)
  }
  await writeHealth(sql, found)
  return found.filter(health => isHopeless(health, now)).map(({ id }) => id)
}
