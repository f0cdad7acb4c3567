import type { Tenant } from '../../../kernel/contract/actor.ts'
import { processActor } from '../../../kernel/contract/actor.ts'
import type { RegisteredOperation } from '../../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import type { ExecuteCall } from '../../../kernel/run/execute.ts'
import { addMs } from '../../../values/clock.ts'
import { type DeliveryAttempt, type DeliveryRow, deliveryMachine, leftToRun } from '../delivery.ts'
import { webhookProcess } from '../process.ts'

/** The tiers of plans. `full` equals `basic` so far. */
const tiers = {
  basic: { retries: false, deadLetters: false },
  full: { retries: false, deadLetters: false },
  full_retry: { retries: true, deadLetters: false },
  full_dlq: { retries: true, deadLetters: true },
} as const

export const retryTierNames = Object.keys(tiers) as (keyof typeof tiers)[]

const byPlan: Readonly<Record<string, keyof typeof tiers>> = {
  free: 'basic',
  starter: 'full',
  business: 'full_retry',
  enterprise: 'full_dlq',
}

/** A delivery is attempted at once and after each wait; `finalStatus` is its status after the last failure. */
interface Tier {
  readonly waitsMs: readonly number[]
  readonly finalStatus: 'failed' | 'dead'
}

const nameOf = (plan: string): keyof typeof tiers => byPlan[plan] ?? 'basic'

export function retryTierOfPlan(plan: string, waitsMs: readonly number[]): Tier {
  const { retries, deadLetters } = tiers[nameOf(plan)]
  return { waitsMs: retries ? waitsMs : [], finalStatus: deadLetters ? 'dead' : 'failed' }
}

export function retryScheduleOfPlan(plan: string, retrySeconds: readonly number[]) {
  const tier = nameOf(plan)
  const { retries, deadLetters: deadLetter } = tiers[tier]
  const backoffSeconds = retries ? [...retrySeconds] : []
  return { tier, maxAttempts: backoffSeconds.length + 1, backoffSeconds, deadLetter }
}

export interface DeliveryAttemptResult {
  readonly attempt: DeliveryAttempt
  readonly succeeded: boolean
  readonly retryAfterMs: number | null
}

export const MAX_RETRY_AFTER_MS = 4 * 3_600_000
/** The last attempts that are stored of a delivery, which can be replayed any number of times. */
const MAX_ATTEMPTS = 25

/**
 * Stores an attempt and moves the delivery: delivered, due again later, or failed for good. If another
 * process has claimed the delivery meanwhile, a failure does not count, but a success does, because the
 * receiver has it.
 */
export function applyDeliveryAttempt(
  row: DeliveryRow,
  result: DeliveryAttemptResult,
  { isMine, tier }: { isMine: boolean; tier: Tier },
) {
  const at = new Date(result.attempt.at)
  row.attempts = [...row.attempts, result.attempt].slice(-MAX_ATTEMPTS)
  if (row.status !== 'pending' || (!isMine && !result.succeeded)) return
  row.leasedUntil = null
  if (result.succeeded) finish(row, 'delivered')
  else scheduleRetry(row, result, at, tier)
}

function scheduleRetry(
  row: DeliveryRow,
  { attempt, retryAfterMs }: DeliveryAttemptResult,
  at: Date,
  { waitsMs, finalStatus }: Tier,
): void {
  const wait = waitsMs[row.tries]
  row.tries++
  if (wait === undefined) {
    finish(row, finalStatus)
    return
  }
  const waits = Math.max(wait, retryAfterMs ?? 0)
  const passed = Math.min(waits, row.aheadMs)
  row.aheadMs -= passed
  const next = addMs(at, (attempt.latencyMs ?? 0) + waits - passed)
  Object.assign(row, leftToRun(next))
  // The test clock has passed it: a deliverer makes it at once, unless the run comes first.
  if (passed > 0 && passed === waits) row.dueAt = next
  row.workflowId = workflowIdOf(webhookProcess, row.id)
}

function finish(row: DeliveryRow, status: 'delivered' | 'failed' | 'dead'): void {
  deliveryMachine.move(row, status)
  Object.assign(row, { dueAt: null, attemptAt: null })
}

interface Parts {
  readonly database: Database
  readonly execute: ExecuteCall
  readonly operations: readonly RegisteredOperation[]
}

export interface WebhookDisableReason {
  readonly reason: 'gone' | 'failing'
  readonly url: string | null
}

/** Disables a subscription through an operation, so that an event is emitted. */
export async function disableWebhook(
  { database, execute, operations }: Parts,
  webhookId: string,
  body: WebhookDisableReason,
): Promise<void> {
  const operation = operations.find(({ key }) => key === 'webhooks.giveUp')
  const [tenant] = await sqlOn(database.pool)<Tenant & Row>(
    'select owner_id as "ownerId", mode from webhooks where id = $1',
    [webhookId],
  )
  if (!operation || !tenant) return
  await execute({
    operation,
    actor: processActor(tenant),
    input: { params: { id: webhookId }, query: {}, body },
    requestId: `webhook:${webhookId}`,
    address: null,
    idempotencyKey: null,
  })
}
