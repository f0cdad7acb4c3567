import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import type { Euros } from '../../values/money.ts'
import { type PaymentWay, paymentWays } from './request-payment.ts'

/** A refund that the payer’s bank has sent back makes a request `paid` again. */
export const requestMachine = machine('payment-request', {
  open: ['paid', 'expired', 'cancelled'],
  paid: ['refunded'],
  expired: [],
  cancelled: [],
  refunded: ['paid'],
})

/** SQL condition: the process of the request has something to wait for. Written exactly as in the partial index. */
export const NEEDS_RUN = "(status = 'open' or refunding_cents > 0)"

const zero = (column: string) =>
  p
    .bigint()
    .name(column)
    .onCreate(() => 0n)

const schema = defineEntity({
  ...tenantTable('PaymentRequest', 'payment_requests', 'agentId', 'delegationId'),
  properties: {
    ...record('request'),
    /** The agent whose wallet it is; null for a wallet of the owner's. */
    agentId: nullable.string(),
    /** The delegation whose token has made it. */
    delegationId: nullable.string(),
    walletId: p.text(),
    amountEuros: p.bigint().name('amount_cents'),
    description: p.text(),
    payerName: nullable.string(),
    payerEmail: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
    /** Given only to who has paid. */
    unlocks: nullable.json<Record<string, unknown>>(),
    /** The creditor reference, which the register of references leads to this request. */
    reference: p.text(),
    status: p.enum(requestMachine.states).onCreate(() => requestMachine.initial),
    /** The part of what has come that counts towards the amount. */
    paidEuros: zero('paid_cents'),
    /** The part of it that does not: above the amount, or too late. It stays in the wallet. */
    surplusEuros: zero('surplus_cents'),
    refundedEuros: zero('refunded_cents'),
    /** On its way back. */
    refundingEuros: zero('refunding_cents'),
    /** How the payment came that completed it. */
    paidBy: p
      .enum(paymentWays)
      .$type<PaymentWay | null>()
      .strictNullable()
      .onCreate(() => null),
    paidAt: nullable.instant(),
    expiresAt: timestamp(),
    /** When it is to be looked at for its expiry; null while a payment is under way, and once it is not open. */
    dueAt: nullable.instant(),
    /** What was said when it was cancelled. */
    comment: nullable.string(),
    workflowId: p.text(),
  },
})

/** Asks somebody for money, which comes by SEPA, by card or from another wallet. */
export class PaymentRequest extends schema.class {}
schema.setClass(PaymentRequest)

type Amounts = Pick<PaymentRequest, 'amountEuros' | 'paidEuros' | 'surplusEuros' | 'refundedEuros'>

/** What is missing before the request is paid. */
export const dueEuros = ({ amountEuros, paidEuros }: Pick<Amounts, 'amountEuros' | 'paidEuros'>): Euros =>
  amountEuros - paidEuros

/** All that has come for it. */
export const receivedEuros = ({
  paidEuros,
  surplusEuros,
}: Pick<Amounts, 'paidEuros' | 'surplusEuros'>): Euros => paidEuros + surplusEuros

/** Whether it waits for money at this instant: its deadline ends it, whenever the process notices. */
export const isPayable = (
  { status, expiresAt }: Pick<PaymentRequest, 'status' | 'expiresAt'>,
  now: Date,
): boolean => status === 'open' && now < expiresAt
