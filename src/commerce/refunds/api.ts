import { z } from 'zod'
import { get, list, missing, post } from '../../kernel/contract/operation.ts'
import {
  arrivedEvents,
  type Refund,
  type RefundRow,
  refundEvents,
  refundMachine,
  refundOrigins,
  refundReasons,
  refundWays,
} from '../../money/refunds/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { freeText, ProcessStatusRecord, recordHead, recordTail, timeRange } from '../../values/schemas.ts'
import { refundingEvents, refundRefusals } from '../collect/index.ts'

const status = z.enum(refundMachine.states)
const origin = z.enum(refundOrigins)
const reason = z.enum(refundReasons)

const RefundRecord = z
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

export const refundResponse = ({ sourceType, sourceId, ...refund }: RefundRow | Refund) => ({
  ...refund,
  source: sourceType && sourceId ? { type: sourceType, id: sourceId } : null,
})

export const WAIT_DAYS = 30

const refund_not_found = missing('refund')
const done = z.object({ done: z.boolean() })

const createDescription = [
  'Money goes back the way it came, in full or in part, and never more than was paid: what is back, what is awaited and what is disputed count together. Without `amountEuros` it is all that is left.',
  '- **A transfer between your wallets** is given back at once, out of the wallet that was paid.\n- **A payment of a request** goes back to who has paid, as by `POST /collect/requests/{id}/refund`: by SEPA, to the card, or into the wallet.\n- **A payment by card, or of a machine,** is asked of the merchant, through the card network where the processor can do that; ask there too, as only the merchant can send it. The refund is `pending` until the card network brings the money, which completes it, and `failed` after ' +
    `${WAIT_DAYS} days: dispute the payment then. Money that comes later is booked all the same.\n- **A transfer by SEPA** is asked back by \`POST /transfers/{id}/recall\`; what its bank returns is a refund of its own.`,
  'What comes back is free again in the limits of the day, the month, the run, the delegation, the mandate and the card in which it was counted; the payment stays one use of them. It goes to the wallet that has paid, and where that is closed, to yours.',
  'In the sandbox the merchant sends a refund of € 93.01 by card at once, and declines one of € 93.02, which is `failed`; of € 93.03 the processor does not answer for an hour, and then the merchant sends it; `POST /simulate/card/refund` plays what it sends later.',
  'Send an `Idempotency-Key`: a repeated call with the same one asks for nothing twice.',
].join('\n\n')

export const refundsApi = {
  create: post('/refunds', {
    summary: 'Ask for money of a payment back, or give it back',
    description: createDescription,
    callers: ['key'],
    scope: 'refunds:write',
    run: 'outside',
    body: z.strictObject({
      transactionId: id('txn'),
      amountEuros: positiveEuros().optional(),
      reason,
      note: freeText.min(1).nullable().default(null).meta({ description: 'For you.' }),
    }),
    example: {
      transactionId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 5,
      reason: 'not_delivered',
      note: 'One of two books has not come',
    },
    returns: [201, RefundRecord],
    fails: {
      ...refundRefusals,
      transaction_not_found: [404, 'transactionId: no such transaction.'],
      transaction_not_completed: [
        400,
        'transactionId: the payment is not completed: nothing of it can come back.',
      ],
      not_refundable: [400, 'transactionId: a fee or a refund is not refunded.'],
      recall_it: [400, 'transactionId: a transfer by SEPA is asked back by POST /transfers/{id}/recall.'],
      payee_refunds: [
        400,
        'transactionId: it was paid to the holder of a request or a token, who alone can give it back. Ask for it there.',
      ],
      nothing_to_refund: [400, 'transactionId: nothing is left of the payment that could come back.'],
      refund_above_payment: [400, 'amountEuros: it is more than is left of the payment.'],
    },
    emits: { ...refundingEvents, ...refundEvents, ...arrivedEvents },
  }),
  list: list('/refunds', {
    summary: 'List refunds',
    description: 'Newest first: what was asked for, and what has come back by itself.',
    callers: ['key'],
    scope: 'refunds:read',
    filters: {
      transactionId: id('txn').optional(),
      agentId: id('agent').optional(),
      status: status.optional(),
      origin: origin.optional(),
      ...timeRange,
    },
    item: RefundRecord,
  }),
  get: get('/refunds/{id}', {
    summary: 'Get a refund',
    callers: ['key'],
    scope: 'refunds:read',
    returns: [200, RefundRecord],
    fails: { refund_not_found },
  }),
  cancel: post('/refunds/{id}/cancel', {
    summary: 'Stop waiting for a refund',
    description:
      'While it is `pending`. What was asked for can then be asked for again, or disputed. If the merchant sends the money after all, it is booked, as a refund of the network.',
    callers: ['key'],
    scope: 'refunds:write',
    returns: [200, RefundRecord],
    fails: {
      refund_not_found,
      refund_not_pending: [400, 'The refund is not waited for any more.'],
      refund_under_way: [400, 'The money is on its way to who had paid, and cannot be stopped.'],
    },
    emits: { 'refund.cancelled': refundEvents['refund.cancelled'] },
  }),
  status: get('/refunds/{id}/status', {
    readsClock: true,
    summary: 'Get the status of a refund’s process',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z.enum(['ask', 'give up']).nullable().meta({ description: 'What is done when it is due.' }),
      }),
    ],
    fails: { refund_not_found },
  }),
  ask: post('/refunds/{id}/ask', {
    summary: 'Ask for a refund that is due',
    callers: [],
    run: 'outside',
    returns: [200, done],
    fails: { refund_not_found },
    emits: { ...refundingEvents, ...refundEvents, ...arrivedEvents },
  }),
  /** Changes nothing before the deadline, by the tenant's clock, and nothing when it is repeated. */
  expire: post('/refunds/{id}/expire', {
    summary: 'Give up a refund that has not come',
    callers: [],
    returns: [200, done],
    fails: { refund_not_found },
    emits: { 'refund.failed': refundEvents['refund.failed'] },
  }),
}
