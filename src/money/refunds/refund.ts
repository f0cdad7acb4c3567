import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

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
    amountEuros: p.bigint().name('amount_cents'),
    arrivedEuros: p
      .bigint()
      .name('arrived_cents')
      .onCreate(() => 0n),
    reason: p
      .enum(refundReasons)
      .$type<RefundReason | null>()
      .strictNullable()
      .onCreate(() => null),
    note: nullable.string(),
    failure: nullable.json<RefundFailure>(),
    /** The record that speaks for it: a payment by card, a transfer, a credit, the refund of a request. */
    sourceType: nullable.string(),
    sourceId: nullable.string(),
    /** How often the processor was asked to ask the merchant. */
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
