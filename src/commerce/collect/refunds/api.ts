import { z } from 'zod'
import { event } from '../../../kernel/contract/events.ts'
import { type Failure, list, post } from '../../../kernel/contract/operation.ts'
import { creditEvents } from '../../../money/incoming/index.ts'
import {
  type Refund,
  type RefundFailure,
  type RefundRow,
  refundEvents as refundRecordEvents,
} from '../../../money/refunds/index.ts'
import { cardPaymentEvents } from '../../../money/transactions/index.ts'
import { backoff, days, instant, minutes } from '../../../values/clock.ts'
import { id } from '../../../values/ids.ts'
import { euros, positiveEuros } from '../../../values/money.ts'
import { excerpt, freeText, recordHead, recordTail } from '../../../values/schemas.ts'
import { transferEvents } from '../../transfers/index.ts'
import { lookupFails, PaymentRequestRecord, RequestEvent, requestEvent, way } from '../api.ts'
import { paymentWays, type RequestRow } from '../request.ts'

export type { RefundFailure }

/** `returned`: the payer’s bank sent the refund back. */
const requestRefundStates = ['pending', 'completed', 'failed', 'returned'] as const

/** How long the refunding request has for its call, before process or sweep ask the acquirer. */
export const FIRST_CHECK_AFTER = minutes(1)

export const nextCheckAfter = (attempts: number): number => backoff(FIRST_CHECK_AFTER, attempts, days(1))

const REFUND_SOURCE = 'request_refund'

/** The id of a refund within its request, which acquirer and ledger use too. */
export const requestRefundIdOf = (refundId: string): string => refundId.replace('refund_', 'requestrefund_')

export const refundIdOf = (requestRefundId: string): string =>
  requestRefundId.replace('requestrefund_', 'refund_')

export const causeOf = (refundId: string) => ({ type: REFUND_SOURCE, id: requestRefundIdOf(refundId) })

/** A failed refund with an instant of completion was completed first, and then returned. */
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
    way,
    status: z.enum(requestRefundStates).meta({
      description: '`returned`: the payer’s bank has sent the money back; it is in the wallet again.',
    }),
    amountEuros: euros,
    reason: z.string().nullable(),
    failure: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why it has come to nothing.' }),
    transferId: id('transfer').nullable().meta({ description: 'The transfer by SEPA that takes it back.' }),
    completedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'RefundOfRequest' })

const RefundedRequest = PaymentRequestRecord.extend({
  refunds: z
    .array(RefundRecord)
    .meta({ description: 'What this call sends back, a refund for each payment.' }),
}).meta({ id: 'RefundedPaymentRequest' })

export const MAX_PARTS = 50

export const refundRefusals = {
  ...lookupFails,
  request_open: [400, 'The request still waits for money: cancel it first.'],
  nothing_to_refund: [400, 'Nothing is left of what came for the request.'],
  refund_above_received: [400, 'amountEuros: it is more than is left of what came for the request.'],
  sender_unknown: [
    400,
    'The bank has not told the account from which the money came. Pay it back by POST /transfers.',
  ],
  wallet_frozen: [400, 'The wallet is frozen: nothing leaves it.'],
  wallet_closed: [400, 'The wallet is closed. Pay it back from another one by POST /transfers.'],
  insufficient_funds: [400, 'There is not enough in the wallet.'],
  single_limit_exceeded: [400, 'It is above the limit for one transfer.'],
  daily_limit_exceeded: [400, 'The daily limit is reached.'],
} as const satisfies Record<string, Failure>

export const recordedEvents = { ...cardPaymentEvents, ...refundRecordEvents }

const RequestRefundEvent = RequestEvent.extend({
  refundId: id('requestrefund'),
  paymentId: id('requestpayment'),
  way: z.enum(paymentWays),
  refundEuros: euros.meta({ description: 'What goes back with this refund.' }),
  refundedEuros: euros.meta({ description: 'What has gone back of the request by now.' }),
  reason: z.string().max(200).optional().meta({ description: 'Why it has come to nothing.' }),
})

export const refundEvents = {
  'claim.request.refund_started': event(
    'Money that came for a request is on its way back to who had paid.',
    RequestRefundEvent,
  ),
  'claim.request.refunded': event(
    'Money that came for a request is back with who had paid: a part, or all of it.',
    RequestRefundEvent,
  ),
  'claim.request.refund_failed': event(
    'Money that was to go back to who had paid a request is in the wallet again, and why.',
    RequestRefundEvent,
  ),
}

export const refundEvent = (
  request: RequestRow,
  { id, paymentId, way, amountEuros, failure }: RefundRow,
) => ({
  ...requestEvent(request),
  refundId: requestRefundIdOf(id),
  paymentId: paymentId ?? '',
  way,
  refundEuros: amountEuros,
  refundedEuros: request.refundedEuros,
  ...(failure ? { reason: excerpt(failure.message) } : {}),
})

export const refundingEvents = {
  ...refundEvents,
  ...recordedEvents,
  ...creditEvents,
  'payment.updated': transferEvents['payment.updated'],
}

export const refundsApi = {
  refund: post('/collect/requests/{id}/refund', {
    summary: 'Give back what came for a payment request',
    description: [
      'By the way it came: a SEPA credit goes back to its sender by a transfer, which verifies the payee and counts towards your limits as any other; a charge of a card is refunded by the acquirer; what came from a wallet here is in it at once. It is never more than came. Without `amountEuros` all of it goes back, the surplus included.',
      `What came last goes back first. Each payment has a refund of its own: \`completed\`, or \`pending\` until the bank or the acquirer has said how it ends. The request is \`refunded\` once all that came is back. A refund takes money of ${MAX_PARTS} payments at most.`,
      'Send an `Idempotency-Key`: a repeated call with the same one gives nothing back twice.',
    ].join('\n\n'),
    callers: ['key'],
    scope: 'collect:write',
    run: 'outside',
    body: z.strictObject({
      amountEuros: positiveEuros().optional(),
      reason: freeText.min(1).nullable().default(null).meta({ description: 'For you.' }),
    }),
    example: { amountEuros: 5, reason: 'One chapter is missing' },
    returns: [200, RefundedRequest],
    fails: refundRefusals,
    emits: refundingEvents,
  }),
  refunds: list('/collect/requests/{id}/refunds', {
    callers: ['key', 'agent'],
    scope: 'collect:read',
    summary: 'List the refunds of a payment request',
    description: 'Newest first.',
    item: RefundRecord,
    fails: lookupFails,
  }),
  /** Asks the acquirer about the request's due refunds; nothing is refunded twice. */
  followRefunds: post('/collect/requests/{id}/follow-refunds', {
    summary: 'Ask what has become of the refunds of a payment request',
    callers: [],
    run: 'outside',
    returns: [200, z.object({ done: z.boolean() })],
    fails: lookupFails,
    emits: refundingEvents,
  }),
}
