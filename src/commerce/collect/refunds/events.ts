import { z } from 'zod'
import { event } from '../../../kernel/contract/events.ts'
import { type RefundRow, refundEvents as refundRecordEvents } from '../../../money/refunds/index.ts'
import { cardPaymentEvents } from '../../../money/transactions/index.ts'
import { id } from '../../../values/ids.ts'
import { euros } from '../../../values/money.ts'
import { excerpt } from '../../../values/schemas.ts'
import { RequestEvent, requestEvent } from '../events.ts'
import { paymentWays } from '../request-payment.ts'
import type { RequestRow } from '../request-rows.ts'
import { requestRefundIdOf } from './request-refund.ts'

/** The events of the records of what goes back, and of their transactions. */
export const recordedEvents = { ...cardPaymentEvents, ...refundRecordEvents }

const RefundEvent = RequestEvent.extend({
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
    RefundEvent,
  ),
  'claim.request.refunded': event(
    'Money that came for a request is back with who had paid: a part, or all of it.',
    RefundEvent,
  ),
  'claim.request.refund_failed': event(
    'Money that was to go back to who had paid a request is in the wallet again, and why.',
    RefundEvent,
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
