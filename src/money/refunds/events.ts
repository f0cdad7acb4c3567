import { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { event } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { money } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import { cardPaymentEvents } from '../transactions/index.ts'
import { type RefundRow, refundMachine, refundOrigins, refundWays } from './refund.ts'

const RefundEvent = z.object({
  refundId: id('refund'),
  transactionId: id('txn').nullable(),
  agentId: id('agent').nullable(),
  amountCents: money,
  status: z.enum(refundMachine.states),
  origin: z.enum(refundOrigins),
  way: z.enum(refundWays),
  reason: z.string().max(200).optional().meta({ description: 'Why nothing has come back.' }),
})

export const refundEvents = {
  'refund.requested': event('Money of a payment has been asked back.', RefundEvent),
  'refund.completed': event('Money of a payment is back: a part, or all of it.', RefundEvent),
  'refund.failed': event('Money that was asked back has not come, and why.', RefundEvent),
  'refund.cancelled': event('Nobody waits any more for money that was asked back.', RefundEvent),
}

/** Emitted by every operation that brings money of a payment back. */
export const arrivedEvents = { ...cardPaymentEvents, 'refund.completed': refundEvents['refund.completed'] }

export type RefundEmitter<N extends keyof typeof refundEvents> = Context<
  never,
  Pick<typeof refundEvents, N>
>['emit']
export type ArrivedEmitter = Context<never, typeof arrivedEvents>['emit']

export const refundEvent = ({
  id: refundId,
  transactionId,
  agentId,
  amountCents,
  status,
  origin,
  way,
  failure,
}: RefundRow) => ({
  ...{ refundId, transactionId, agentId, amountCents, status, origin, way },
  ...(failure ? { reason: excerpt(failure.message) } : {}),
})
