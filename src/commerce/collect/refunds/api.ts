import { z } from 'zod'
import { widening } from '../../../identity/passkeys/index.ts'
import { declareEvent } from '../../../kernel/contract/events.ts'
import { list, post, type RefusalSpec } from '../../../kernel/contract/operation.ts'
import { step } from '../../../kernel/contract/step.ts'
import { incomingCreditEvents } from '../../../money/incoming/index.ts'
import {
  type Refund,
  type RefundFailure,
  type RefundRow,
  refundOrigins,
  refundStatusEvents,
} from '../../../money/refunds/index.ts'
import { transactionLifecycleEvents } from '../../../money/transactions/index.ts'
import { backoffDelay, days, instant, minutes } from '../../../values/clock.ts'
import { id } from '../../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../../values/money.ts'
import { freeTextSchema, recordHead, recordTimestamps, truncateText } from '../../../values/schemas.ts'
import { transferEvents } from '../../transfers/index.ts'
import {
  PaymentRequestEvent,
  PaymentRequestRecord,
  paymentRequestEvent,
  paymentWaySchema,
  requestLookupRefusals,
} from '../api.ts'
import { type PaymentRequestRow, paymentWays } from '../request.ts'

export type { RefundFailure }

const requestRefundStates = ['pending', 'completed', 'failed', 'returned'] as const

export const FIRST_REFUND_CHECK_MS = minutes(1)

export const nextRefundCheckDelay = (attempts: number): number =>
  backoffDelay(FIRST_REFUND_CHECK_MS, attempts, days(1))

const REFUND_SOURCE = 'request_refund'

/** The id of a refund within its request. Acquirer and ledger use it too. */
export const requestRefundIdOf = (refundId: string): string => refundId.replace('refund_', 'requestrefund_')

export const refundIdOf = (requestRefundId: string): string =>
  requestRefundId.replace('requestrefund_', 'refund_')

export const requestRefundCause = (refundId: string) => ({
  type: REFUND_SOURCE,
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

const RefundRecord = z
  .object({
    ...recordHead('requestrefund'),
    requestId: id('request'),
    paymentId: id('requestpayment'),
    way: paymentWaySchema,
    origin: z.enum(refundOrigins).meta({
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
  refunds: z.array(RefundRecord).meta({ description: 'The refunds of this call, one for each payment.' }),
}).meta({ id: 'RefundedPaymentRequest' })

export const MAX_REFUND_PARTS = 50

export const requestRefundRefusals = {
  ...widening.fails,
  ...requestLookupRefusals,
  request_open: [400, 'The request is still open. Cancel it first.'],
  nothing_to_refund: [400, 'The request has no refundable amount left.'],
  refund_above_received: [400, 'amountEuros: it exceeds the refundable amount of the request.'],
  sender_unknown: [
    400,
    'The bank did not report the sender’s account. Pay the money back with POST /transfers.',
  ],
  wallet_frozen: [400, 'The wallet is frozen. Unfreeze it first.'],
  wallet_closed: [400, 'The wallet is closed. Pay it back from another one with POST /transfers.'],
  insufficient_funds: [400, 'The wallet’s available balance is too low.'],
  single_limit_exceeded: [400, 'The amount exceeds the limit for one transfer.'],
  daily_limit_exceeded: [400, 'The daily limit is reached.'],
} as const satisfies Record<string, RefusalSpec>

export const refundRecordedEvents = { ...transactionLifecycleEvents, ...refundStatusEvents }

const RequestRefundEvent = PaymentRequestEvent.extend({
  refundId: id('requestrefund'),
  paymentId: id('requestpayment'),
  way: z.enum(paymentWays),
  origin: z.enum(refundOrigins),
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
  ...refundRecordedEvents,
  ...incomingCreditEvents,
  'payment.updated': transferEvents['payment.updated'],
}

export const requestRefundsApi = {
  refund: post('/collect/requests/{id}/refund', {
    summary: 'Refund a payment request',
    description: [
      'Each payment is refunded the way it came: a SEPA credit is returned to its sender by a transfer, which verifies the payee and counts towards your limits like any other; the acquirer refunds a card charge; a wallet payment is returned immediately. A refund never exceeds what was received. Without `amountEuros`, everything is refunded, including the surplus.',
      `The newest payment is refunded first. Each payment has its own refund: \`completed\`, or \`pending\` until the bank or the acquirer has reported the outcome. The request is \`refunded\` once everything is refunded. One refund covers ${MAX_REFUND_PARTS} payments at most.`,
      'Send an `Idempotency-Key`: a repetition with the same key refunds nothing twice.',
    ].join('\n\n'),
    callers: ['key'],
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
    item: RefundRecord,
    fails: requestLookupRefusals,
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
