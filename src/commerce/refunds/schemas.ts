import { z } from 'zod'
import {
  type Refund,
  type RefundRow,
  refundMachine,
  refundOrigins,
  refundReasons,
  refundWays,
} from '../../money/refunds/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'

export const status = z.enum(refundMachine.states)
export const origin = z.enum(refundOrigins)
export const reason = z.enum(refundReasons)

export const RefundRecord = z
  .object({
    ...recordHead('refund'),
    transactionId: id('txn').nullable().meta({
      description: 'The payment; null for money of no payment of yours, and for what is above the payment.',
    }),
    agentId: id('agent').nullable(),
    walletId: id('wallet').nullable().meta({
      description:
        'Your wallet that has got the money: the one that had paid, or yours where that is closed. Null while it is awaited, in suspense, and where it has gone back to who had paid you.',
    }),
    status,
    origin: origin.meta({
      description:
        '`asked`: by `POST /refunds`, or for a payment request. The others came by themselves: from the card network, the bank, or who had been paid.',
    }),
    way: z.enum(refundWays),
    amountEuros: euros,
    arrivedEuros: euros.meta({ description: 'What of it has come: a merchant may send it in parts.' }),
    reason: reason.nullable(),
    note: z.string().nullable(),
    failure: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why it has not come, or has come back to you.' }),
    source: z.object({ type: z.string(), id: z.string() }).nullable().meta({
      description: 'What speaks for it: a payment by card, a transfer, a credit, the refund of a request.',
    }),
    dueAt: instant.nullable().meta({ description: 'Until then it is waited for.' }),
    merchantAskedAt: instant.nullable().meta({
      description:
        'When the processor of the card has asked the merchant. Null where it cannot, or has not answered yet: it is asked again then.',
    }),
    completedAt: instant.nullable(),
    workflowId: z
      .string()
      .nullable()
      .meta({ description: 'The run to find in the Temporal Web UI; null where nothing is waited for.' }),
    ...recordTail,
  })
  .meta({ id: 'Refund' })

/** A refund as the API shows it. */
export const refundResponse = ({ sourceType, sourceId, ...refund }: RefundRow | Refund) => ({
  ...refund,
  source: sourceType && sourceId ? { type: sourceType, id: sourceId } : null,
})
