import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { choiceWithSynonyms } from '../../kernel/contract/choices.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { list, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { incomingCreditEvents } from '../../money/incoming/index.ts'
import {
  type Refund,
  type RefundRow,
  refundMachine,
  refundOrigins,
  refundReasonCodes,
  refundStatusEvents,
  refundWays,
} from '../../money/refunds/index.ts'
import { transactionLifecycleEvents } from '../../money/transactions/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { type OriginalAmount, OriginalAmountRecord } from '../../values/original-amount.ts'
import {
  freeTextSchema,
  recordHead,
  recordTimestamps,
  timeRangeMembers,
  truncateText,
} from '../../values/schemas.ts'
import {
  PaymentRequestEvent,
  PaymentRequestRecord,
  type PaymentRequestRow,
  paymentRequestEvent,
  paymentWaySchema,
  paymentWays,
  requestLookupRefusals,
} from '../payment-requests/index.ts'
import { transferEvents } from '../transfers/index.ts'

const status = z.enum(refundMachine.states)
const origin = z.enum(refundOrigins)
const reason = z.enum(refundReasonCodes)
const givenReason = choiceWithSynonyms(refundReasonCodes, {
  fraud: 'fraudulent',
  not_received: 'not_delivered',
})

const RefundRecord = z
  .object({
    ...recordHead('refund'),
    transactionId: id('txn').nullable().meta({
      description:
        'The refunded payment. Null if the money belongs to none of your payments, or exceeds the payment.',
    }),
    agentId: id('agent').nullable(),
    walletId: id('wallet').nullable().meta({
      description:
        'Your wallet that received the money: the one that paid, or your own if that is closed. Null while the money is awaited or in suspense, and if it went back to your payer.',
    }),
    status,
    origin: origin.meta({
      description:
        '`asked`: requested with `POST /refunds`, or for a payment request. The others came without a request: from the card network, the bank or the payee.',
    }),
    way: z.enum(refundWays),
    amountCents: moneySchema,
    arrivedCents: moneySchema.meta({
      description: 'Amount received so far. A merchant may send it in parts.',
    }),
    original: OriginalAmountRecord.nullable(),
    reason: reason.nullable(),
    note: z.string().nullable(),
    failure: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the refund failed, or was returned to you.' }),
    source: z.object({ type: z.string(), id: z.string() }).nullable().meta({
      description: 'The source record: a card payment, a transfer, a credit, or the refund of a request.',
    }),
    dueAt: instant.nullable().meta({ description: 'The time at which a pending refund expires.' }),
    merchantAskedAt: instant.nullable().meta({
      description:
        'The time at which the card’s processor asked the merchant. Null if it cannot, or has not answered yet: the service then asks again.',
    }),
    completedAt: instant.nullable(),
    workflowId: z
      .string()
      .nullable()
      .meta({ description: 'The run’s ID in the Temporal Web UI. Null if nothing is waited for.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Refund' })

export const refundResponse = (
  { sourceType, sourceId, ...refund }: RefundRow | Refund,
  original: OriginalAmount | null = null,
) => ({
  ...refund,
  original,
  source: sourceType && sourceId ? { type: sourceType, id: sourceId } : null,
})

export const MAX_REFUND_WAIT_DAYS = 30

const requestRefundStates = ['pending', 'completed', 'failed', 'returned'] as const

/** The id of a refund within its request. Acquirer and ledger use it too. */
export const requestRefundIdOf = (refundId: string): string => refundId.replace('refund_', 'requestrefund_')

export const refundIdOf = (requestRefundId: string): string =>
  requestRefundId.replace('requestrefund_', 'refund_')

export const requestRefundCause = (refundId: string) => ({
  type: 'request_refund',
  id: requestRefundIdOf(refundId),
})

/** A failed refund with an instant of completion was first completed, and then returned. */
function statusOf({ status, completedAt }: RefundRow): (typeof requestRefundStates)[number] {
  if (status === 'cancelled') throw new Error('a refund of a request is never cancelled')
  return status === 'failed' && completedAt ? 'returned' : status
}

export function requestRefundResponse(refund: RefundRow | Refund) {
  const { requestId, paymentId } = refund
  if (!requestId || !paymentId) throw new Error(`${refund.id}: not the refund of a request`)
  return {
    ...refund,
    id: requestRefundIdOf(refund.id),
    requestId,
    paymentId,
    status: statusOf(refund),
    reason: refund.note,
  }
}

const RequestRefundRecord = z
  .object({
    ...recordHead('requestrefund'),
    requestId: id('request'),
    paymentId: id('requestpayment'),
    way: paymentWaySchema,
    origin: origin.meta({
      description:
        '`asked`: by you. `network`: a chargeback, or a refund made at the acquirer; `returned` is one that came back.',
    }),
    status: z.enum(requestRefundStates).meta({
      description: '`returned`: the payer’s bank returned the money; it is in the wallet again.',
    }),
    amountCents: moneySchema,
    reason: z.string().nullable(),
    failure: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the refund failed.' }),
    transferId: id('transfer').nullable().meta({ description: 'The SEPA transfer that refunds it.' }),
    completedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'RefundOfRequest' })

const RefundedRequest = PaymentRequestRecord.extend({
  refunds: z
    .array(RequestRefundRecord)
    .meta({ description: 'The refunds of this call, one for each payment.' }),
}).meta({ id: 'RefundedPaymentRequest' })

export const MAX_REFUND_PARTS = 50

const requestRefundRefusals = {
  ...widening.fails,
  ...requestLookupRefusals,
  request_open: [400, 'The request is still open. Cancel it first.'],
  nothing_to_refund: [400, 'The request has no refundable amount left.'],
  refund_above_received: [400, 'amountEuros: it exceeds the refundable amount of the request.'],
  sender_unknown: [
    400,
    'The bank did not report the sender’s account and name. Pay the money back with POST /transfers.',
  ],
  wallet_frozen: [400, 'The wallet is frozen. Unfreeze it first.'],
  wallet_closed: [400, 'The wallet is closed. Pay it back from another one with POST /transfers.'],
  insufficient_funds: [400, 'The wallet’s available balance is too low.'],
  single_limit_exceeded: [400, 'The amount exceeds the limit for one transfer.'],
  daily_limit_exceeded: [400, 'The daily limit is reached.'],
} as const satisfies Record<string, RefusalSpec>

const RequestRefundEvent = PaymentRequestEvent.extend({
  refundId: id('requestrefund'),
  paymentId: id('requestpayment'),
  way: z.enum(paymentWays),
  origin,
  refundCents: moneySchema.meta({ description: 'The amount of this refund.' }),
  refundedCents: moneySchema.meta({ description: 'Refunded from the request so far.' }),
  reason: z.string().max(200).optional().meta({ description: 'Why the refund failed.' }),
})

export const requestRefundEvents = {
  'claim.request.refund_started': declareEvent(
    'A refund of a payment request has begun.',
    RequestRefundEvent,
  ),
  'claim.request.refunded': declareEvent(
    'A refund or chargeback of a payment request has been completed, in part or in full.',
    RequestRefundEvent,
  ),
  'claim.request.refund_failed': declareEvent(
    'A refund of a payment request has failed; the money is in the wallet again.',
    RequestRefundEvent,
  ),
}

export const requestRefundEvent = (
  request: PaymentRequestRow,
  { id, paymentId, way, origin, amountCents, failure }: RefundRow,
) => ({
  ...paymentRequestEvent(request),
  refundId: requestRefundIdOf(id),
  paymentId: paymentId ?? '',
  way,
  origin,
  refundCents: amountCents,
  refundedCents: request.refundedCents,
  ...(failure ? { reason: truncateText(failure.message) } : {}),
})

export const requestRefundingEvents = {
  ...widening.emits,
  ...requestRefundEvents,
  ...transactionLifecycleEvents,
  ...refundStatusEvents,
  ...incomingCreditEvents,
  'payment.updated': transferEvents['payment.updated'],
}

const refund_not_found = notFound('refund')

const createDescription = [
  'Money returns the way it came, in full or in part, and never more than was paid: refunded, pending and disputed amounts count together. Without `amountEuros` the rest is refunded.',
  '- **A transfer between your wallets** is refunded immediately, out of the wallet that was paid.\n- **A payment of a request** is refunded to its payer, as with `POST /collect/requests/{id}/refund`: by SEPA, to the card, or into the wallet.\n- **A payment by card, or of a machine,** is requested from the merchant, through the card network if the processor supports that; contact the merchant too, as only the merchant can send it. The refund is `pending` until the money arrives through the card network, and `failed` after ' +
    `${MAX_REFUND_WAIT_DAYS} days: dispute the payment then. Later money is still booked.\n- **A transfer by SEPA** is recalled with \`POST /transfers/{id}/recall\`; a return by its bank is a separate refund.`,
  'Refunded amounts are released in the limits of the day, the month, the run, the delegation, the mandate and the card; the payment still counts as one use. The money goes to the paying wallet, or to yours if that is closed.',
  'In the sandbox the merchant sends a card refund of € 93.01 immediately, and declines € 93.02, which is `failed`; for € 93.03 the processor does not answer for an hour, and then the merchant sends it; `POST /simulate/card/refund` simulates later refunds.',
  'Send an `Idempotency-Key`: a repetition with the same key requests nothing twice.',
].join('\n\n')

const readers = operationsFor({ callers: ['key'], scope: 'refunds:read' })
const writers = operationsFor({ callers: ['key'], scope: 'refunds:write' })

export const refundsApi = {
  create: writers.post('/refunds', {
    summary: 'Request or make a refund of a payment',
    description: createDescription,
    run: 'hot-external',
    body: z.strictObject({
      transactionId: id('txn'),
      amountCents: positiveMoneySchema().optional(),
      reason: givenReason,
      note: freeTextSchema.min(1).nullable().default(null).meta({ description: 'For you.' }),
      ...widening.members,
    }),
    example: {
      transactionId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 5,
      reason: 'not_delivered',
      note: 'One of two books did not arrive',
    },
    signature: widening.signature,
    returns: [201, RefundRecord],
    fails: {
      ...requestRefundRefusals,
      transaction_not_found: [404, 'transactionId: no such transaction.'],
      transaction_not_completed: [
        400,
        'transactionId: the payment is not completed, so nothing can be refunded.',
      ],
      not_refundable: [400, 'transactionId: a fee or a refund cannot be refunded.'],
      recall_it: [400, 'transactionId: recall a SEPA transfer with POST /transfers/{id}/recall.'],
      payee_refunds: [
        400,
        'transactionId: only the holder of the request or token can refund it. Contact the holder.',
      ],
      nothing_to_refund: [400, 'transactionId: the payment has no refundable amount left.'],
      refund_above_payment: [400, 'amountEuros: it exceeds the refundable amount of the payment.'],
    },
    emits: requestRefundingEvents,
  }),
  list: readers.list('/refunds', {
    summary: 'List refunds',
    description: 'Newest first: requested refunds, and those received without a request.',
    filters: {
      transactionId: id('txn').optional(),
      agentId: id('agent').optional(),
      status: status.optional(),
      origin: origin.optional(),
      ...timeRangeMembers,
    },
    item: RefundRecord,
  }),
  get: readers.getOne('/refunds/{id}', 'a refund', RefundRecord, { refund_not_found }),
  cancel: writers.post('/refunds/{id}/cancel', {
    summary: 'Cancel a refund',
    description:
      'Possible while the refund is `pending`. The amount can then be requested again, or disputed. If the merchant still sends the money, it is booked as a refund by the network.',
    returns: [200, RefundRecord],
    fails: {
      refund_not_found,
      refund_not_pending: [400, 'The refund is no longer pending.'],
      refund_under_way: [400, 'The money is on its way to the payer and cannot be stopped.'],
    },
    emits: { 'refund.cancelled': refundStatusEvents['refund.cancelled'] },
  }),
}

export const requestRefundsApi = {
  refund: writers.post('/collect/requests/{id}/refund', {
    summary: 'Refund a payment request',
    description: [
      'Each payment is refunded the way it came: a SEPA credit is returned to its sender by a transfer, which verifies the payee and counts towards your limits like any other; the acquirer refunds a card charge; a wallet payment is returned immediately. A refund never exceeds what was received. Without `amountEuros`, everything is refunded, including the surplus.',
      `The newest payment is refunded first. Each payment has its own refund: \`completed\`, or \`pending\` until the bank or the acquirer has reported the outcome. The request is \`refunded\` once everything is refunded. One refund covers ${MAX_REFUND_PARTS} payments at most.`,
      'Send an `Idempotency-Key`: a repetition with the same key refunds nothing twice.',
    ].join('\n\n'),
    scope: 'collect:write',
    run: 'external',
    body: z.strictObject({
      amountCents: positiveMoneySchema().optional(),
      reason: freeTextSchema.min(1).nullable().default(null).meta({ description: 'For you.' }),
      ...widening.members,
    }),
    example: { amountEuros: 5, reason: 'One chapter is missing' },
    signature: widening.signature,
    returns: [200, RefundedRequest],
    fails: requestRefundRefusals,
    emits: requestRefundingEvents,
  }),
  refunds: list('/collect/requests/{id}/refunds', {
    callers: ['key', 'agent'],
    scope: 'collect:read',
    summary: 'List the refunds of a payment request',
    description: 'Newest first.',
    item: RequestRefundRecord,
    fails: requestLookupRefusals,
  }),
}

export const refundSteps = {
  /** A repetition has the same reference: the merchant is asked once. */
  ask: step('refunds.ask', {
    summary: 'Request a due refund from the merchant, through the card processor',
    emits: { 'refund.failed': refundStatusEvents['refund.failed'] },
    calls: 'cardProcessor',
  }),
  /** Changes nothing before the deadline, by the tenant's clock. */
  expire: step('refunds.expire', {
    summary: 'Expire a refund that did not arrive',
    emits: { 'refund.failed': refundStatusEvents['refund.failed'] },
  }),
}

export const requestRefundSteps = {
  /** A repetition refunds nothing twice. */
  follow: step('collect.followRefunds', {
    summary: 'Ask the acquirer about the pending refunds of a payment request',
    emits: requestRefundingEvents,
    calls: 'acquirer',
  }),
}
