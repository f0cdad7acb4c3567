import { defineEntity, type FilterQuery, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { maybe, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'

/** What has come to its end can be begun anew: it is replayed. */
export const deliveryMachine = machine('delivery', {
  pending: ['delivered', 'failed', 'dead'],
  delivered: ['pending'],
  failed: ['pending'],
  dead: ['pending'],
})

/** One POST to a receiver, and what came of it. */
export interface Attempt {
  /** As the receiver saw it in `X-Service-Delivery-Id`. */
  readonly deliveryId: string
  readonly at: string
  readonly status: number | null
  readonly latencyMs: number | null
  readonly error: string | null
  readonly responseStart: string | null
}

const realTime = () => timestamp().onCreate(() => clock.real())

/** In real time, as signatures are: when the test clock is moved, what it waits for comes nearer. */
const schema = defineEntity({
  ...tenantTable('Delivery', 'deliveries'),
  properties: {
    ...record('delivery'),
    createdAt: realTime(),
    updatedAt: realTime().onUpdate(() => clock.real()),
    webhookId: p.text(),
    eventId: p.text(),
    event: p.text(),
    status: p.enum(deliveryMachine.states),
    dueAt: maybe.instant(),
    /** Somebody has taken it, and is delivering it; from then on others may. */
    leasedUntil: maybe.instant(),
    /** The process that took it last. */
    leasedBy: maybe.string(),
    /** How often somebody has taken it. */
    claims: p.integer(),
    /** How far the test clock has been moved beyond `dueAt`: further waits are shorter by that. */
    aheadMs: p
      .double()
      .$type<number>()
      .onCreate(() => 0),
    /** Failed attempts since it began, or began anew. */
    tries: p.integer(),
    attempts: p.json<Attempt[]>(),
    workflowId: maybe.string(),
  },
})

export class Delivery extends schema.class {}
schema.setClass(Delivery)

/** As the API shows it: one that somebody has taken is being delivered. */
export const shownStates = [...deliveryMachine.states, 'delivering'] as const
export type ShownState = (typeof shownStates)[number]

/** Whether somebody is delivering it. */
export const isLeased = ({ leasedUntil }: Pick<Delivery, 'leasedUntil'>): boolean =>
  leasedUntil !== null && leasedUntil > clock.real()

export const shownState = (delivery: Pick<Delivery, 'status' | 'leasedUntil'>): ShownState =>
  isLeased(delivery) ? 'delivering' : delivery.status

/** The records that are shown so. */
export function shownAs(state: ShownState | undefined): FilterQuery<Delivery> {
  if (state === undefined) return {}
  const now = clock.real()
  if (state === 'delivering') return { leasedUntil: { $gt: now } }
  const free = { $or: [{ leasedUntil: null }, { leasedUntil: { $lte: now } }] }
  return state === 'pending' ? { status: state, ...free } : { status: state }
}

type Replayable = Pick<Delivery, 'status' | 'leasedUntil' | 'dueAt' | 'aheadMs' | 'tries'>

/** Due now, with all its attempts before it; false where it is on its way just now. */
export function replay(delivery: Replayable, now: Date): boolean {
  if (isLeased(delivery)) return false
  deliveryMachine.move(delivery, 'pending')
  Object.assign(delivery, { dueAt: now, leasedUntil: null, aheadMs: 0, tries: 0 })
  return true
}
