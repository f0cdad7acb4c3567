import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, zeroCents } from '../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'

/** What was completed fails only where a bank has sent the money back to us. */
export const refundMachine = machine('refund', {
  pending: ['completed', 'failed', 'cancelled'],
  completed: ['failed'],
  failed: [],
  cancelled: [],
})

/** Who has begun it: we were asked for it, or the money has come by itself. */
export const refundOrigins = ['asked', 'network', 'bank', 'payee'] as const
export type RefundOrigin = (typeof refundOrigins)[number]

/** The way that the payment took, by which its money comes back. */
export const refundWays = ['wallet', 'card', 'sepa'] as const
export type RefundWay = (typeof refundWays)[number]

export const refundReasons = ['duplicate', 'fraudulent', 'requested', 'not_delivered', 'other'] as const
export type RefundReason = (typeof refundReasons)[number]

/** Why nothing has come back. */
export interface RefundFailure {
  readonly code: string
  readonly message: string
}

const schema = defineEntity({
  ...tenantTable('Refund', 'refunds', 'agentId'),
  properties: {
    ...record('refund'),
    /** Null for money of which no payment is known, and for what is above the payment. */
    transactionId: nullable.string(),
    agentId: nullable.string(),
    /** The wallet of the owner that has the money, or null. */
    walletId: nullable.string(),
    status: p.enum(refundMachine.states).onCreate(() => refundMachine.initial),
    origin: p.enum(refundOrigins),
    way: p.enum(refundWays),
    amountCents: p.bigint().name('amount_cents'),
    arrivedCents: zeroCents('arrived_cents'),
    reason: nullable.enum(refundReasons),
    note: nullable.string(),
    failure: nullable.json<RefundFailure>(),
    /** The record that speaks for it: a payment by card, a transfer, a credit, the refund of a request. */
    sourceType: nullable.string(),
    sourceId: nullable.string(),
    /** The payment request that gives it back, and the payment of that request; null for all other refunds. */
    requestId: nullable.string(),
    paymentId: nullable.string(),
    /** The transfer by SEPA that takes it back to the payer of the request. */
    transferId: nullable.string(),
    /** How often the processor or the acquirer was asked. */
    attempts: p.integer().onCreate(() => 0),
    /** When it is asked next; null where nothing is left to ask. */
    askDueAt: nullable.instant(),
    /** When it has taken it to the merchant. */
    merchantAskedAt: nullable.instant(),
    /** When nobody waits for the money any more. */
    dueAt: nullable.instant(),
    completedAt: nullable.instant(),
    workflowId: nullable.string(),
  },
})

/** Money that comes back of a payment, or goes back of one that we have got. */
export class Refund extends schema.class {}
schema.setClass(Refund)

/** A refund as a plain row, which any step writes together with what it moves. */
export type RefundRow = RowOf<Refund>

export const refundTable = tableOf(Refund)

/** The members of a refund of which nothing is known yet. */
export const blankRefund = {
  transactionId: null,
  agentId: null,
  walletId: null,
  status: refundMachine.initial,
  arrivedCents: 0n,
  reason: null,
  note: null,
  failure: null,
  sourceType: null,
  sourceId: null,
  requestId: null,
  paymentId: null,
  transferId: null,
  attempts: 0,
  askDueAt: null,
  merchantAskedAt: null,
  dueAt: null,
  completedAt: null,
  workflowId: null,
} as const
