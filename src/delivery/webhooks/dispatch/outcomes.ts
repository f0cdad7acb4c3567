import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { onConnection } from '../../../kernel/database/connection.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { withDatabaseRetries } from '../../../kernel/database/retry.ts'
import { emptyJournal, type OutboxRow, writeJournal } from '../../../kernel/journal/journal.ts'
import { buildWakeUpRow, withTraceparent } from '../../../kernel/journal/journal-rows.ts'
import { addMs, clock } from '../../../values/clock.ts'
import {
  type DeliveryRow,
  deliveryColumns,
  deliveryMachine,
  isLeftToRun,
  leftToRun,
  type WebhookHealth,
  webhookHealthColumns,
  writeDeliveryOutcomes,
  writeWebhookHealth,
} from '../delivery.ts'
import { recordAttemptRound, shouldDisableWebhook } from '../health.ts'
import { webhookProcess } from '../process.ts'
import type { EventRange } from './claim.ts'
import { storeDelivered, storeWaiting } from './journal-reader.ts'
import { applyDeliveryAttempt, type DeliveryAttemptResult, retryTierOfPlan } from './retry.ts'

/** The result of a claimed delivery; null releases it without an attempt. */
export interface DeliveryOutcome {
  readonly id: string
  readonly webhookId: string
  readonly claim: number
  readonly lease: string
  readonly range: EventRange | null
  readonly traceparent?: string | undefined
  readonly result: DeliveryAttemptResult | null
  /** How many rounds had failed at the receiver when a run claimed the attempt. */
  readonly failures?: number
}

export interface OutcomeFollowUp {
  readonly forTemporal: boolean
  readonly toDisable: readonly string[]
  /** What a deliverer has sent in place of a run that was late. */
  readonly rescued: readonly RescuedDelivery[]
}

export interface RescuedDelivery {
  readonly id: string
  readonly dueAt: Date
}

/** Commits without waiting for the disk: if the server is killed, a lost outcome means one more delivery. */
const ASYNC_COMMIT = ['begin', 'set local synchronous_commit = off']

type Locked = DeliveryRow & Row & { plan: string; failures: number }

const LOCK = `
select ${deliveryColumns}, c.plan, w.failures from deliveries d
join customers c on c.id = d.owner_id join webhooks w on (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id)
where d.id = any($1::text[]) order by d.id for update of d`

const LOCK_HEALTH = `
select ${webhookHealthColumns} from webhooks w where w.id = any($1::text[]) order by w.id for no key update`

export async function recordDeliveryOutcomes(
  database: Database,
  outcomes: readonly DeliveryOutcome[],
  waitsMs: readonly number[],
): Promise<OutcomeFollowUp> {
  const toUpdate = await storeNew(sqlOn(database.pool), outcomes)
  const delivered = await withDatabaseRetries(() => recordSuccesses(sqlOn(database.pool), toUpdate))
  const others = toUpdate.filter(({ id }) => !delivered.has(id))
  if (others.length === 0) return { forTemporal: false, toDisable: [], rescued: [] }
  return withDatabaseRetries(() =>
    onConnection(database, ASYNC_COMMIT, async client => {
      const sql = sqlOn(client)
      const { rows, toDisable, ofRuns } = await applyDeliveryOutcomes(sql, {
        outcomes,
        toUpdate: others,
        waitsMs,
      })
      const byId = new Map(outcomes.map(outcome => [outcome.id, outcome]))
      const outbox = rows.flatMap(row => {
        const { result, traceparent } = byId.get(row.id) as DeliveryOutcome
        return result && row.workflowId !== null ? [wakeUpOf(row, traceparent)] : []
      })
      await writeJournal(sql, { ...emptyJournal(), outbox })
      await client.query('commit')
      return { forTemporal: outbox.length > 0, toDisable, rescued: ofRuns }
    }),
  )
}

interface Recording {
  readonly outcomes: readonly DeliveryOutcome[]
  /** Those of them that are still to be written. */
  readonly toUpdate: readonly DeliveryOutcome[]
  readonly waitsMs: readonly number[]
}

/** Writes what became of deliveries and what it says about their receivers, in the caller's transaction. */
export async function applyDeliveryOutcomes(sql: Sql, { outcomes, toUpdate, waitsMs }: Recording) {
  const rows = await sql<Locked>(LOCK, [toUpdate.map(({ id }) => id)])
  const aheadMs = aheadOf(rows)
  const ofRuns = apply(rows, toUpdate, waitsMs)
  await writeDeliveryOutcomes(sql, rows)
  const toDisable = await updateHealth(sql, { rows, outcomes, aheadMs })
  return { rows, toDisable, ofRuns }
}

/** Stores deliveries that have no row yet, and returns the outcomes that are still to be written. */
async function storeNew(sql: Sql, outcomes: readonly DeliveryOutcome[]): Promise<readonly DeliveryOutcome[]> {
  const unstored = outcomes.flatMap(({ id, range, result }) => {
    const delivery = range?.unstored.get(id)
    return delivery ? [{ delivery, result }] : []
  })
  if (unstored.length === 0) return outcomes
  const stored = await storeDelivered(
    sql,
    unstored.flatMap(({ delivery, result }) => (result?.succeeded ? [{ delivery, result }] : [])),
  )
  const others = unstored.filter(({ delivery }) => !stored.has(delivery.id))
  const attempted = others.flatMap(({ delivery, result }) => (result ? [delivery] : []))
  const released = others.flatMap(({ delivery, result }) => (result ? [] : [delivery]))
  await storeWaiting(sql, attempted, { claims: 1, leased: true })
  await storeWaiting(sql, released, { claims: 1, leased: false })
  return outcomes.filter(({ id }) => !stored.has(id))
}

const DELIVERED = `
with async_commit as materialized (select set_config('synchronous_commit', 'off', true))
select id from async_commit cross join lateral mark_delivered($1, $2, $3, $4) id`

/**
 * Writes the successes of receivers without failures, which most outcomes are, in one statement, and returns
 * their ids.
 */
async function recordSuccesses(sql: Sql, outcomes: readonly DeliveryOutcome[]): Promise<Set<string>> {
  const attempts = outcomes.flatMap(({ id, result }) =>
    result?.succeeded ? [[id, result.attempt] as const] : [],
  )
  if (attempts.length === 0) return new Set()
  const { initial } = deliveryMachine
  const moved = { status: initial }
  deliveryMachine.move(moved, 'delivered')
  const receivers = [...new Set(outcomes.map(({ webhookId }) => webhookId))]
  const values = [JSON.stringify(Object.fromEntries(attempts)), receivers, initial, moved.status]
  const rows = await sql<{ id: string }>(DELIVERED, values)
  return new Set(rows.map(({ id }) => id))
}

/** The run begins with the first failure. Later it reads again what a deliverer has sent. */
function wakeUpOf(
  { id, ownerId, mode, event, webhookId, status }: DeliveryRow,
  traceparent: string | undefined,
): OutboxRow {
  const about = `${event} to ${webhookId}`
  const row = buildWakeUpRow(webhookProcess, { ownerId, mode }, { id, agentId: null, status, about })
  return withTraceparent(row, traceparent)
}

/** Returns what was left to runs. */
function apply(
  rows: readonly Locked[],
  outcomes: readonly DeliveryOutcome[],
  waitsMs: readonly number[],
): RescuedDelivery[] {
  const ofRuns: RescuedDelivery[] = []
  const byId = new Map(outcomes.map(outcome => [outcome.id, outcome]))
  for (const row of rows) {
    const { id, attemptAt: dueAt } = row
    const { claim, lease, result } = byId.get(id) as DeliveryOutcome
    const isMine = row.claims === claim && row.leasedBy === lease
    row.updatedAt = clock.real()
    if (result && isMine && dueAt && isLeftToRun(row)) ofRuns.push({ id, dueAt })
    if (result) applyDeliveryAttempt(row, result, { isMine, tier: retryTierOfPlan(row.plan, waitsMs) })
    else if (isMine) row.leasedUntil = null
  }
  return ofRuns
}

interface Round {
  readonly rows: readonly Locked[]
  readonly outcomes: readonly DeliveryOutcome[]
  readonly aheadMs: ReadonlyMap<string, number>
}

/** By subscription, how far the test clock had passed the attempts' due times when they were made. */
function aheadOf(rows: readonly Locked[]): Map<string, number> {
  const least = new Map<string, number>()
  for (const { webhookId, aheadMs } of rows)
    least.set(webhookId, Math.min(aheadMs, least.get(webhookId) ?? aheadMs))
  return least
}

/** Counts a round with a success as a success, any other as a failure, and returns the subscriptions to disable. */
async function updateHealth(sql: Sql, { rows, outcomes, aheadMs }: Round): Promise<string[]> {
  const rounds = new Map<string, boolean>()
  for (const { webhookId, result } of outcomes)
    if (result) rounds.set(webhookId, result.succeeded || (rounds.get(webhookId) ?? false))
  const failures = new Map(rows.map(row => [row.webhookId, row.failures]))
  // A success of a receiver without failures changes nothing.
  const changed = [...rounds].filter(([id, succeeded]) => !succeeded || (failures.get(id) ?? 0) > 0)
  if (changed.length === 0) return []
  const now = clock.real()
  const healths = await sql<WebhookHealth & Row>(LOCK_HEALTH, [changed.map(([id]) => id)])
  for (const health of healths) {
    const triedAt = addMs(now, -(aheadMs.get(health.id) ?? 0))
    if (isNewRound(health, outcomes)) recordAttemptRound(health, rounds.get(health.id) ?? false, triedAt)
  }
  await writeWebhookHealth(sql, healths)
  await leavePausedToRuns(sql, healths)
  return healths.filter(health => shouldDisableWebhook(health, now)).map(({ id }) => id)
}

/** Attempts that runs have begun before another one failed are the same round. A success counts always. */
const isNewRound = ({ id, failures }: WebhookHealth, outcomes: readonly DeliveryOutcome[]): boolean =>
  outcomes.some(
    ({ webhookId, result, failures: atClaim = failures }) =>
      webhookId === id && result !== null && (result.succeeded || atClaim === failures),
  )

/** What is locked has an outcome that is being recorded, which says the same. */
const LEAVE_PAUSED_TO_RUNS = `
update deliveries d set due_at = late.at from unnest($1::text[], $2::timestamptz[]) as late(webhook_id, at)
where d.webhook_id = late.webhook_id and d.id = any(array(
  select one.id from unnest($1::text[], $2::timestamptz[]) as paused(webhook_id, at)
  join deliveries one on one.webhook_id = paused.webhook_id and one.status in ('pending') and one.attempt_at is not null
    and one.due_at < paused.at
  for update of one skip locked))`

/** The runs of a paused receiver wait for the end of the pause: they are late only after it. */
async function leavePausedToRuns(sql: Sql, healths: readonly WebhookHealth[]): Promise<void> {
  const now = clock.real()
  const paused = healths.flatMap(({ id, pausedUntil }) =>
    pausedUntil && pausedUntil > now ? [{ id, late: leftToRun(pausedUntil).dueAt }] : [],
  )
  if (paused.length === 0) return
  await sql(LEAVE_PAUSED_TO_RUNS, [paused.map(({ id }) => id), paused.map(({ late }) => late)])
}
