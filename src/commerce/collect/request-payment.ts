import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

/** A payment by SEPA is known once it has come; the others can be under way. */
export const requestPaymentMachine = machine('request-payment', {
  under_way: ['received', 'failed'],
  received: [],
  failed: [],
})

export const paymentWays = ['sepa', 'card', 'wallet'] as const
export type PaymentWay = (typeof paymentWays)[number]

/** Why money that has come does not count towards the request. */
export const surplusReasons = ['above_amount', 'already_paid', 'expired', 'cancelled'] as const
export type SurplusReason = (typeof surplusReasons)[number]

/** A charge of the acquirer, as it is named when money goes back. Nothing of it pays anything. */
export interface AcquirerCharge {
  readonly handle: string
  readonly reference: string
  readonly descriptor: string
}

const schema = defineEntity({
  ...tenantTable('RequestPayment', 'request_payments'),
  properties: {
    ...record('requestpayment'),
    requestId: p.text(),
    way: p.enum(paymentWays),
    status: p.enum(requestPaymentMachine.states).onCreate(() => requestPaymentMachine.initial),
    amountEuros: p.bigint().name('amount_cents'),
    countedEuros: p
      .bigint()
      .name('counted_cents')
      .onCreate(() => 0n),
    surplusReason: p
      .enum(surplusReasons)
      .$type<SurplusReason | null>()
      .strictNullable()
      .onCreate(() => null),
    /** What has gone back of it, and what is on its way back. */
    refundedEuros: p
      .bigint()
      .name('refunded_cents')
      .onCreate(() => 0n),
    /** The wallet that the money came into. */
    walletId: p.text(),
    /** The incoming credit or the settlement by which it came: each counts once. */
    sourceId: p.text(),
    charge: nullable.json<AcquirerCharge>(),
    transactionId: nullable.string(),
    receivedAt: nullable.instant(),
  },
})

/** Money that came for a request, or is on its way to it. */
export class RequestPayment extends schema.class {}
schema.setClass(RequestPayment)
