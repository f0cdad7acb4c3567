import { workflowIdOf } from '../../../kernel/contract/process.ts'
import { after } from '../../../values/clock.ts'
import { type Attempt, deliveryMachine } from '../delivery.ts'
import type { DeliveryRow } from '../delivery-rows.ts'
import { webhookProcess } from '../process.ts'
import type { Tier } from './tiers.ts'

/** How a receiver has taken a delivery. */
export interface Taken {
  readonly attempt: Attempt
  readonly succeeded: boolean
  /** How long it asks to be left alone. */
  readonly retryAfterMs: number | null
}

/** No receiver puts us off for longer. */
const LONGEST_MS = 4 * 3_600_000
/** Of a delivery that is replayed again and again the last ones are kept. */
const KEPT = 25

/**
 * Notes an attempt and what follows from it: done, again later, or given up. Where somebody else has taken the delivery
 * meanwhile only a success counts, for it is a fact.
 */
export function conclude(row: DeliveryRow, taken: Taken, { isMine, tier }: { isMine: boolean; tier: Tier }) {
  const at = new Date(taken.attempt.at)
  row.attempts = [...row.attempts, taken.attempt].slice(-KEPT)
  if (row.status !== 'pending' || (!isMine && !taken.succeeded)) return
  row.leasedUntil = null
  if (taken.succeeded) end(row, 'delivered')
  else fail(row, taken, at, tier)
}

function fail(row: DeliveryRow, { attempt, retryAfterMs }: Taken, at: Date, { waitsMs, lastly }: Tier): void {
  const wait = waitsMs[row.tries]
  row.tries++
  if (wait === undefined) {
    end(row, lastly)
    return
  }
  const waits = Math.max(wait, retryAfterMs ?? 0)
  const passed = Math.min(waits, row.aheadMs)
  row.aheadMs -= passed
  row.dueAt = after(at, (attempt.latencyMs ?? 0) + waits - passed)
  row.workflowId = workflowIdOf(webhookProcess, row.id)
}

function end(row: DeliveryRow, status: 'delivered' | 'failed' | 'dead'): void {
  deliveryMachine.move(row, status)
  row.dueAt = null
}

/** As HTTP has it; what else can be read as a date is none that a receiver means. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** `Retry-After`, in seconds or as a date, as far as we follow it. */
export function retryAfterOf(value: string | undefined, now: Date): number | null {
  const ms = value === undefined ? Number.NaN : millisecondsOf(value, now)
  return ms > 0 ? Math.min(ms, LONGEST_MS) : null
}

function millisecondsOf(value: string, now: Date): number {
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  return HTTP_DATE.test(value) ? Date.parse(value) - now.getTime() : Number.NaN
}
