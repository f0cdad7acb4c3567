import { defineEntity, type FilterQuery, p } from '@mikro-orm/core'
import { inRange, sqlCondition } from '../../kernel/contract/conditions.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { selectColumnList, updateOfAnyTenant } from '../../kernel/database/bulk-sql.ts'
import { nullable, realTimestampColumns, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { addMs, clock } from '../../values/clock.ts'
import { Webhook } from './webhook.ts'

/** A delivery that has ended becomes pending again when it is replayed. */
export const deliveryMachine = stateMachine('delivery', {
  pending: ['delivered', 'failed', 'dead'],
  delivered: ['pending'],
  failed: ['pending'],
  dead: ['pending'],
})

export interface DeliveryAttempt {
  /** The value of `X-Service-Delivery-Id`. */
  readonly deliveryId: string
  readonly at: string
  readonly status: number | null
  readonly latencyMs: number | null
  readonly error: string | null
  readonly responseStart: string | null
}

/** Its times are real times, as those of signatures are: advancing the test clock moves the next attempt earlier. */
const schema = defineEntity({
  ...tenantTable('Delivery', 'deliveries'),
  properties: {
    ...recordColumns('delivery'),
    ...realTimestampColumns(),
    webhookId: p.text(),
    eventId: p.text(),
    event: plain(p.text()),
    status: p.enum(deliveryMachine.states),
    /** When a deliverer takes it. Where a run makes the attempt, that is later: the run is late then. */
    dueAt: nullable.instant(),
    /** When its run makes the next attempt; null where a deliverer makes it. */
    attemptAt: nullable.instant(),
    /** Until then one process is delivering it; afterwards any process may claim it. */
    leasedUntil: nullable.instant(),
    leasedBy: plain(nullable.string()),
    claims: p.integer(),
    /** How far the test clock was advanced beyond the attempt: later waits are shorter by that. */
    aheadMs: p
      .double()
      .$type<number>()
      .onCreate(() => 0),
    tries: p.integer(),
    attempts: personal(p.json<DeliveryAttempt[]>(), 'words', 'security', 'empty'),
    workflowId: nullable.string(),
  },
})

export class Delivery extends schema.class {}
schema.setClass(Delivery)

/** The statuses of the API, in which a claimed delivery is `delivering`. */
export const deliveryStatuses = [...deliveryMachine.states, 'delivering'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export const endedDeliveryStatuses = ['delivered', 'failed', 'dead'] as const

export const isDeliveryLeased = ({ leasedUntil }: Pick<Delivery, 'leasedUntil'>): boolean =>
  leasedUntil !== null && leasedUntil > clock.real()

/** When the next attempt is due, by the run or by a deliverer. */
export const nextAttemptAt = ({ attemptAt, dueAt }: Pick<Delivery, 'attemptAt' | 'dueAt'>): Date | null =>
  attemptAt ?? dueAt

/** A run acts within seconds. One that is so late is rescued by a deliverer. */
const RESCUE_AFTER_MS = 30_000

/** The instants of a delivery whose run makes the next attempt. */
export const leftToRun = (at: Date) => ({ attemptAt: at, dueAt: addMs(at, RESCUE_AFTER_MS) })

/** Whether a run makes the attempt, unless it is late. An instant that a test clock has reached is anyone's. */
export const isLeftToRun = ({ attemptAt, dueAt }: Pick<Delivery, 'attemptAt' | 'dueAt'>): boolean =>
  attemptAt !== null && dueAt !== null && dueAt > attemptAt

export const deliveryStatus = (delivery: Pick<Delivery, 'status' | 'leasedUntil'>): DeliveryStatus =>
  isDeliveryLeased(delivery) ? 'delivering' : delivery.status

export function deliveryStatusFilter(state: DeliveryStatus | undefined): FilterQuery<Delivery> {
  if (state === undefined) return {}
  const now = clock.real()
  if (state === 'delivering') return { leasedUntil: inRange({ gt: now }) }
  const free = { $or: [{ leasedUntil: null }, { leasedUntil: inRange({ lte: now }) }] }
  if (state === 'pending') return { status: state, ...free }
  // Literals: with parameters PostgreSQL would not use the partial index over these two.
  return state === 'delivered'
    ? { status: state }
    : { status: state, ...sqlCondition("status in ('failed', 'dead')") }
}

type Replayable = Pick<Delivery, 'status' | 'leasedUntil' | 'dueAt' | 'attemptAt' | 'aheadMs' | 'tries'>

/** Makes a delivery due now, with all attempts of its plan; false if it is being delivered. */
export function resetForReplay(delivery: Replayable, now: Date): boolean {
  if (isDeliveryLeased(delivery)) return false
  deliveryMachine.move(delivery, 'pending')
  Object.assign(delivery, { dueAt: now, attemptAt: null, leasedUntil: null, aheadMs: 0, tries: 0 })
  return true
}

/** A delivery without its entity: thousands a second are claimed and written. */
export type DeliveryRow = RowOf<Delivery>

const deliveries = tableOf(Delivery)

export const deliveryColumns = selectColumnList(deliveries, 'd')
export const writeDeliveryOutcomes = updateOfAnyTenant(deliveries, [
  'status',
  'dueAt',
  'attemptAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'attempts',
  'workflowId',
  'updatedAt',
])
export const writeDeliveryReplays = updateOfAnyTenant(deliveries, [
  'status',
  'dueAt',
  'attemptAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'updatedAt',
])

export type WebhookHealth = Pick<Webhook, 'id' | 'failures' | 'failingSince' | 'pausedUntil'>

const webhooks = tableOf(Webhook)

export const webhookHealthColumns = selectColumnList(webhooks, 'w', [
  'id',
  'failures',
  'failingSince',
  'pausedUntil',
])
export const writeWebhookHealth = updateOfAnyTenant(webhooks, ['failures', 'failingSince', 'pausedUntil'])
