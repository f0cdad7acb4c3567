import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  zeroCentsColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { NO_CENTS } from '../../values/money.ts'

/**
 * A completed refund fails only if a bank has returned its money to the payer's side. A failed one is awaited again only if
 * the bank has made its transfer all the same.
 */
export const refundMachine = stateMachine('refund', {
  pending: ['completed', 'failed', 'cancelled'],
  completed: ['failed'],
  failed: ['pending'],
  cancelled: [],
})

/** `asked` means that the refund was requested. Otherwise the money came without a request. */
export const refundOrigins = ['asked', 'network', 'bank', 'payee'] as const

/** The rail of the refund, which is that of the payment. */
export const refundWays = ['wallet', 'card', 'sepa'] as const

export const refundReasonCodes = ['duplicate', 'fraudulent', 'requested', 'not_delivered', 'other'] as const

export interface RefundFailure {
  readonly code: string
  readonly message: string
}

const schema = defineEntity({
  ...tenantTable('Refund', 'refunds', 'agentId'),
  ...personalTable({
    about: { payer: ['request_id'] },
    keptWhile: {
      where: "t.status not in ('cancelled', 'failed') or t.arrived_cents > 0 or t.completed_at is not null",
      words: 'money has come back, or can still',
    },
  }),
  properties: {
    ...recordColumns('refund'),
    /** Null for money without a known payment, and for the part above the payment. */
    transactionId: nullable.string(),
    agentId: nullable.string(),
    walletId: nullable.string(),
    status: p.enum(refundMachine.states).onCreate(() => refundMachine.initial),
    origin: plain(p.enum(refundOrigins)),
    way: plain(p.enum(refundWays)),
    amountCents: centsColumn('amount_cents'),
    arrivedCents: zeroCentsColumn('arrived_cents'),
    reason: plain(nullable.enum(refundReasonCodes)),
    note: personal(nullable.string(), 'words', 'vouchers', 'word'),
    failure: personal(nullable.json<RefundFailure>(), 'words', 'vouchers', {
      value: '{"code":"forgotten","message":"[forgotten]"}',
    }),
    /** The record behind it: a card payment, a transfer, a credit, or the refund of a request. */
    sourceType: plain(nullable.string()),
    sourceId: plain(nullable.string()),
    /** The payment request that refunds it, and that request's payment; null for all other refunds. */
    requestId: nullable.string(),
    paymentId: plain(nullable.string()),
    transferId: nullable.string(),
    attempts: p.integer().onCreate(() => 0),
    /** Null once there is nothing more to ask. */
    askDueAt: nullable.instant(),
    merchantAskedAt: nullable.instant(),
    dueAt: nullable.instant(),
    completedAt: nullable.instant(),
    workflowId: nullable.string(),
  },
})

export class Refund extends schema.class {}
schema.setClass(Refund)

export type RefundRow = RowOf<Refund>

export const refundTable = tableOf(Refund)

export const emptyRefund = {
  transactionId: null,
  agentId: null,
  walletId: null,
  status: refundMachine.initial,
  arrivedCents: NO_CENTS,
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
