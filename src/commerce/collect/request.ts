import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import type { Euros } from '../../values/money.ts'
import type { Personal } from '../../values/personal.ts'

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

const paymentSchema = defineEntity({
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
export class RequestPayment extends paymentSchema.class {}
paymentSchema.setClass(RequestPayment)

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

const requestSchema = defineEntity({
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
export class PaymentRequest extends requestSchema.class {}
requestSchema.setClass(PaymentRequest)

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

export const collectPersonal = {
  payment_requests: {
    personal: {
      description: { kind: 'words', ground: 'vouchers', forget: 'word' },
      payer_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
      payer_email: { kind: 'contact', ground: 'contract', forget: 'null' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
      comment: { kind: 'words', ground: 'contract', forget: 'word' },
      unlocks: { kind: 'words', ground: 'contract', forget: 'null' },
    },
    plain: ['reference', 'paid_by'],
    keptWhile: {
      where: "t.status not in ('cancelled', 'expired') or t.paid_cents + t.surplus_cents > 0",
      words: 'something was paid, or can still be',
    },
    about: { payer: ['id'] },
  },
  request_payments: {
    personal: {
      charge: { kind: 'payment', ground: 'vouchers', forget: 'null' },
    },
    plain: ['way', 'surplus_reason', 'source_id'],
    keptWhile: {
      where: "t.status <> 'failed'",
      words: 'it has not failed',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal
