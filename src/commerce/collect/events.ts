import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { paymentWays, requestMachine, surplusReasons } from './request.ts'
import type { PaymentRow, RequestRow } from './request-rows.ts'

/** An event about a request names neither payer nor purpose. */
export const RequestEvent = z.object({
  requestId: id('request'),
  status: z.enum(requestMachine.states),
  amountEuros: euros,
})

const RequestPaymentEvent = RequestEvent.extend({
  paymentId: id('requestpayment'),
  way: z.enum(paymentWays),
  paidEuros: euros.meta({ description: 'What counts towards the request by now.' }),
})

export const requestEvents = {
  'claim.request.created': event('Somebody has been asked for money.', RequestEvent),
  'claim.request.expired': event('A request for money has expired unpaid.', RequestEvent),
  'claim.request.cancelled': event('A request for money has been cancelled.', RequestEvent),
}

/** The events of money that comes for a request. */
export const paymentEvents = {
  'claim.request.paid': event('What was asked for has come, in full.', RequestEvent),
  'claim.request.expired': RequestEvent,
  'claim.request.partially_paid': event(
    'A part of what was asked for has come; the request waits for the rest.',
    RequestPaymentEvent,
  ),
  'claim.request.surplus_received': event(
    'Money has come for a request that does not count towards it: above the amount, or too late. It stays in the wallet.',
    RequestPaymentEvent.extend({
      surplusEuros: euros.meta({ description: 'What does not count of this payment.' }),
      reason: z.enum(surplusReasons),
    }),
  ),
}

export const requestEvent = ({ id, status, amountEuros }: RequestRow) => ({
  requestId: id,
  status,
  amountEuros,
})

export const requestPaymentEvent = (request: RequestRow, { id, way }: PaymentRow) => ({
  ...requestEvent(request),
  paymentId: id,
  way,
  paidEuros: request.paidEuros,
})
