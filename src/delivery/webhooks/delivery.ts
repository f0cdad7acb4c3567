import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { type Condition, sqlCondition } from '../../kernel/contract/records.ts'
import { nullable, realTimestamps, record, tenantTable } from '../../kernel/database/entity.ts'
import { type RowOf, selectList, tableOf, updateOfAnyTenant } from '../../record-store/index.ts'
import { clock } from '../../values/clock.ts'
import { Webhook } from './webhook.ts'

/** A delivery that has ended becomes pending again when it is replayed. */
export const deliveryMachine = machine('delivery', {
  pending: ['delivered', 'failed', 'dead'],
  delivered: ['pending'],
  failed: ['pending'],
  dead: ['pending'],
})

export interface Attempt {
  /** The value of `X-Service-Delivery-Id`. */
  readonly deliveryId: string
  readonly at: string
  readonly status: number | null
  readonly latencyMs: number | null
  readonly error: string | null
  readonly responseStart: string | null
}

/** Its times are real times, as those of signatures are: advancing the test clock moves `dueAt` earlier. */
const schema = defineEntity({
  ...tenantTable('Delivery', 'deliveries'),
  properties: {
    ...record('delivery'),
    ...realTimestamps(),
    webhookId: p.text(),
    eventId: p.text(),
    event: p.text(),
    status: p.enum(deliveryMachine.states),
    dueAt: nullable.instant(),
    /** Until then one process is delivering it; afterwards any process may claim it. */
    leasedUntil: nullable.instant(),
    leasedBy: nullable.string(),
    claims: p.integer(),
    /** How far the test clock was advanced beyond `dueAt`: later waits are shorter by that. */
    aheadMs: p
      .double()
      .$type<number>()
      .onCreate(() => 0),
    tries: p.integer(),
    attempts: p.json<Attempt[]>(),
    workflowId: nullable.string(),
  },
})

export class Delivery extends schema.class {}
schema.setClass(Delivery)

/** The statuses of the API, in which a claimed delivery is `delivering`. */
export const deliveryStatuses = [...deliveryMachine.states, 'delivering'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export const endedStatuses = ['delivered', 'failed', 'dead'] as const

export const isLeased = ({ leasedUntil }: Pick<Delivery, 'leasedUntil'>): boolean =>
  leasedUntil !== null && leasedUntil > clock.real()

export const deliveryStatus = (delivery: Pick<Delivery, 'status' | 'leasedUntil'>): DeliveryStatus =>
  isLeased(delivery) ? 'delivering' : delivery.status

export function statusFilter(state: DeliveryStatus | undefined): Condition<Delivery> {
  if (state === undefined) return {}
  const now = clock.real()
  if (state === 'delivering') return { leasedUntil: { $gt: now } }
  const free = { $or: [{ leasedUntil: null }, { leasedUntil: { $lte: now } }] }
  if (state === 'pending') return { status: state, ...free }
  // Literals: with parameters PostgreSQL would not use the partial index over these two.
  return state === 'delivered'
    ? { status: state }
    : { status: state, ...sqlCondition("status in ('failed', 'dead')") }
}

type Replayable = Pick<Delivery, 'status' | 'leasedUntil' | 'dueAt' | 'aheadMs' | 'tries'>

/** Makes a delivery due now, with all attempts of its plan; false if it is being delivered. */
export function resetForReplay(delivery: Replayable, now: Date): boolean {
  if (isLeased(delivery)) return false
  deliveryMachine.move(delivery, 'pending')
  Object.assign(delivery, { dueAt: now, leasedUntil: null, aheadMs: 0, tries: 0 })
  return true
}

/** A delivery without its entity: thousands a second are claimed and written. */
export type DeliveryRow = RowOf<Delivery>

const deliveries = tableOf(Delivery)

export const deliveryColumns = selectList(deliveries, 'd')
export const writeOutcomes = updateOfAnyTenant(deliveries, [
  'status',
  'dueAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'attempts',
  'workflowId',
  'updatedAt',
])
export const writeReplays = updateOfAnyTenant(deliveries, [
  'status',
  'dueAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'updatedAt',
])

export type Health = Pick<Webhook, 'id' | 'failures' | 'failingSince' | 'pausedUntil'>

const webhooks = tableOf(Webhook)

export const healthColumns = selectList(webhooks, 'w', ['id', 'failures', 'failingSince', 'pausedUntil'])
export const writeHealth = updateOfAnyTenant(webhooks, ['failures', 'failingSince', 'pausedUntil'])
