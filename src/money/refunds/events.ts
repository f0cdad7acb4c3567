import { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import { transactionLifecycleEvents } from '../transactions/index.ts'
import { type RefundRow, refundMachine, refundOrigins, refundWays } from './refund.ts'

const RefundEvent = z.object({
  refundId: id('refund'),
  transactionId: id('txn').nullable(),
  agentId: id('agent').nullable(),
  amountCents: moneySchema,
  status: z.enum(refundMachine.states),
  origin: z.enum(refundOrigins),
  way: z.enum(refundWays),
  reason: z.string().max(200).optional().meta({ description: 'Why the refund failed.' }),
})

export const refundStatusEvents = {
  'refund.requested': declareEvent('A refund has been requested.', RefundEvent),
  'refund.completed': declareEvent(
    'A refund has been received: a part of a payment, or all of it.',
    RefundEvent,
  ),
  'refund.failed': declareEvent('A refund has failed.', RefundEvent),
  'refund.cancelled': declareEvent('A requested refund is no longer expected.', RefundEvent),
}

export const refundArrivedEvents = {
  ...transactionLifecycleEvents,
  'refund.completed': refundStatusEvents['refund.completed'],
}

export type RefundEmitter<N extends keyof typeof refundStatusEvents> = Context<
  never,
  Pick<typeof refundStatusEvents, N>
>['emit']
export type RefundArrivedEmitter = Context<never, typeof refundArrivedEvents>['emit']

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
  ...(failure ? { reason: truncateText(failure.message) } : {}),
})
