import type { z } from 'zod'
import { IntentEvent, markPaymentWaits, SpendLocks } from '../../control/intents/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { reactionToAll, whenMemberPresent } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { EmitContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { BatchItem } from '../../kernel/contract/handlers.ts'
import { Accepted } from '../../kernel/contract/problem.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { MAX_BACKGROUND_PAYMENTS, machinePaymentEndEvents } from './api.ts'
import {
  endUnordered,
  MachinePayment,
  machinePaymentMachine,
  machinePaymentResponse,
  type OrderedRequest,
} from './payment.ts'
import { mppProcess } from './process.ts'

/** A request is kept until it is paid. */
const MAX_KEPT_BYTES = 49_152

export const TOO_LONG_TO_KEEP =
  'With Prefer: respond-async, what is sent to the merchant (address, headers and body) is at most 48 KiB. Send less, or wait for the answer.'

export const isTooLongToKeep = (ordered: OrderedRequest): boolean =>
  Buffer.byteLength(JSON.stringify(ordered)) > MAX_KEPT_BYTES

/** The end of the intent ends the payment before, and says why. */
const GRACE_MS = minutes(1)

const IN_BACKGROUND = `
select agent_id as "agentId", count(*)::int as payments from mpp_payments
where (owner_id, mode) = ($1, $2) and agent_id = any($3::text[]) and is_async and status in ('waiting', 'ordering')
group by agent_id`

type Asking = BatchItem<{ readonly body: { readonly intentId: string } }>

/** The payments of these requests that no caller waits for. */
export class BackgroundPayments {
  /** How many an agent has. Each that is added counts. */
  readonly #counts: Map<string, number>
  /** Intents whose approval is waited for. */
  readonly #awaited: string[] = []

  constructor(counts: Map<string, number>) {
    this.#counts = counts
  }

  /** Locks the agents, so that no request exceeds the maximum, and the intents, so that none is approved meanwhile. */
  static async load(items: readonly Asking[], context: SqlContext & TenantNow): Promise<BackgroundPayments> {
    const asked = items.filter(({ prefersAsync }) => prefersAsync)
    if (asked.length === 0) return new BackgroundPayments(new Map())
    const { sql, tenant } = context
    const intents = [...new Set(asked.map(({ input }) => input.body.intentId))]
    const locks = new SpendLocks(sql, context)
    const agents = await locks.agentsOf(intents)
    await locks.take({ intents })
    const values = [tenant.ownerId, tenant.mode, [...agents.keys()]]
    const rows = await sql<Row & { agentId: string; payments: number }>(IN_BACKGROUND, values)
    return new BackgroundPayments(new Map(rows.map(({ agentId, payments }) => [agentId, payments])))
  }

  hasRoomFor(agentId: string): boolean {
    return (this.#counts.get(agentId) ?? 0) < MAX_BACKGROUND_PAYMENTS
  }

  /** Its run carries it out: at once, or when a person has approved its intent. */
  add(payment: MachinePayment, { wake }: EmitContext, awaited?: { readonly endsAt: Date }): Accepted {
    const { id, agentId, intentId } = payment
    this.#counts.set(agentId, (this.#counts.get(agentId) ?? 0) + 1)
    payment.workflowId = workflowIdOf(mppProcess, id)
    if (awaited && machinePaymentMachine.move(payment, 'waiting')) {
      payment.dueAt = addMs(awaited.endsAt, GRACE_MS)
      this.#awaited.push(intentId)
    }
    wake(mppProcess, payment)
    return new Accepted(machinePaymentResponse(payment, { credential: null, answer: null }))
  }

  write(context: SqlContext): Promise<void> {
    return markPaymentWaits(this.#awaited, context)
  }
}

/** Repeats the condition of the partial index exactly: PostgreSQL would not use it for a parameter. */
const WAITING = "status = 'waiting'"

type Decided = z.output<typeof IntentEvent>

/** The payments that wait on these intents, with the decision of each. */
async function lockWaiting(events: readonly Decided[], { em }: WriteContext) {
  const decisions = new Map(events.map(event => [event.intentId, event]))
  const payments = await em.find(
    MachinePayment,
    { intentId: { $in: [...decisions.keys()] }, ...sqlCondition(WAITING) },
    FOR_UPDATE_BY_ID,
  )
  return payments.flatMap(payment => {
    const decision = decisions.get(payment.intentId)
    return decision ? [{ payment, decision }] : []
  })
}

const onApproved = reactionToAll(IntentEvent, {}, async (events, context) => {
  for (const { payment } of await lockWaiting(events, context)) {
    payment.dueAt = context.now
    context.wake(mppProcess, payment)
  }
})

const onEnded = (how: 'denied' | 'cancelled' | 'expired') =>
  reactionToAll(IntentEvent, machinePaymentEndEvents, async (events, context) => {
    for (const { payment, decision } of await lockWaiting(events, context)) {
      const why = decision.reason === undefined ? '.' : `: ${decision.reason}`
      const problem = {
        code: 'intent_not_approved',
        message: `intentId: the intent was ${how}${why}`,
      } as const
      endUnordered(payment, problem, context, `intent_${how}`)
    }
  })

/**
 * An intent tells by `paymentWaits` that a payment has waited for its approval. One that is cancelled does not know the payments
 * that wait for a merchant.
 */
export const waitingPaymentReactions = {
  'intent.approved': whenMemberPresent('paymentWaits', onApproved),
  'intent.denied': whenMemberPresent('paymentWaits', onEnded('denied')),
  'intent.cancelled': onEnded('cancelled'),
  'intent.expired': whenMemberPresent('paymentWaits', onEnded('expired')),
}
