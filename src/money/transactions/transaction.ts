import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

/**
 * A payment is reserved (`authorization`), under way, `settled`, final; or it fails, or is returned. A card network may
 * approve what was declined, clear what it has reversed, clear more after a refund, and authorize more of what it has cleared.
 */
export const transactionMachine = machine('transaction', {
  authorization: ['settlement', 'declined'],
  settlement: ['settled', 'declined'],
  settled: ['completed'],
  completed: ['refunded', 'settlement'],
  declined: ['authorization', 'settlement'],
  refunded: ['completed'],
})

export type TransactionStatus = (typeof transactionMachine.states)[number]

export const transactionTypes = ['card', 'mpp', 'transfer', 'collect', 'refund', 'fee'] as const

/** Evidence for a payment from another system: a network's authorization, a receipt, a checkout's confirmation. */
export interface Witness {
  type: string
  id: string
  at: string
}

const schema = defineEntity({
  ...tenantTable('Transaction', 'transactions', 'agentId'),
  properties: {
    ...record('txn'),
    agentId: nullable.string(),
    intentId: nullable.string(),
    cardId: nullable.string(),
    transferId: nullable.string(),
    walletId: p.text(),
    runId: nullable.string(),
    type: p.enum(transactionTypes),
    status: p.enum(transactionMachine.states).onCreate(() => transactionMachine.initial),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    amountEuros: p.bigint().name('amount_cents'),
    refundedEuros: p
      .bigint()
      .name('refunded_cents')
      .onCreate(() => 0n),
    /** What of it is disputed, or was given back by a dispute: it cannot be refunded as well. */
    disputedEuros: p
      .bigint()
      .name('disputed_cents')
      .onCreate(() => 0n),
    merchant: p.text(),
    mcc: nullable.string(),
    country: nullable.string(),
    memo: nullable.string(),
    declineReason: nullable.string(),
    witnesses: p.json<Witness[]>().onCreate(() => []),
  },
})

export class Transaction extends schema.class {}
schema.setClass(Transaction)
