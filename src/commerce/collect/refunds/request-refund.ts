import type { Refund, RefundFailure, RefundRow } from '../../../money/refunds/index.ts'
import { minutes } from '../../../values/clock.ts'

export type { RefundFailure }

/** How a refund ended, as a payment request shows it. `returned`: the payer’s bank has sent the money back to us. */
export const requestRefundStates = ['pending', 'completed', 'failed', 'returned'] as const

/** How long the request that refunds has for its call, before process or sweep ask the acquirer. */
export const FIRST_CHECK_AFTER = minutes(1)

/** The wait before the acquirer is asked again, doubling up to a day. */
export const nextCheckAfter = (attempts: number): number =>
  Math.min(FIRST_CHECK_AFTER * 2 ** Math.min(attempts, 20), minutes(1_440))

/** The type by which ledger and events name the refund of a request. */
export const REFUND_SOURCE = 'request_refund'

/** The id of a refund among those of its request, by which acquirer and ledger know it too. */
export const requestRefundIdOf = (refundId: string): string => refundId.replace('refund_', 'requestrefund_')

export const refundIdOf = (requestRefundId: string): string =>
  requestRefundId.replace('requestrefund_', 'refund_')

/** The cause of its hold and posting in the ledger. */
export const causeOf = (refundId: string) => ({ type: REFUND_SOURCE, id: requestRefundIdOf(refundId) })

/** Only a refund that was completed, and came back, has failed with the instant of its completion. */
function statusOf({ status, completedAt }: RefundRow): (typeof requestRefundStates)[number] {
  if (status === 'cancelled') throw new Error('a refund of a request is never cancelled')
  return status === 'failed' && completedAt ? 'returned' : status
}

/** A refund as its request shows it: one payment of the request that goes back by the way it came. */
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
