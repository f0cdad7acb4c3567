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
  reason: z.string().max(200).optional().meta({ description: 'Why the refund failed.' }),
})

export const refundEvents = {
  'refund.requested': event('A refund has been requested.', RefundEvent),
  'refund.completed': event('A refund has been received: a part of a payment, or all of it.', RefundEvent),
  'refund.failed': event('A refund has failed.', RefundEvent),
  'refund.cancelled': event('A requested refund is no longer expected.', RefundEvent),
}

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
