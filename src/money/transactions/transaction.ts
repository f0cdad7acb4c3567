import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  insertInto,
  lockedRowsById,
  rowsById,
  selectColumnList,
  updateOf,
} from '../../kernel/database/bulk-sql.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  zeroCentsColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { PersonalData } from '../../values/personal.ts'

/**
 * A payment is reserved (`authorization`), in progress (`settlement`), `settled`, final; or it fails, or is
 * returned. A card network may approve what was declined, clear what it has reversed, clear more after a
 * refund, and authorize more of what it has cleared.
 */
export const transactionMachine = stateMachine('transaction', {
  authorization: ['settlement', 'declined'],
  settlement: ['settled', 'declined'],
  settled: ['completed'],
  completed: ['refunded', 'settlement'],
  declined: ['authorization', 'settlement'],
  refunded: ['completed'],
})

export type TransactionStatus = (typeof transactionMachine.states)[number]

export const transactionTypes = ['card', 'mpp', 'transfer', 'collect', 'refund', 'fee'] as const

/** What the merchant took in its currency, in stored JSON. */
export interface TransactionOriginal extends OriginalAmount {
  readonly heldCents: string | null
  readonly refundedAmount: string | null
}

export interface TransactionWitness {
  type: string
  id: string
  at: string
}

const schema = defineEntity({
  ...tenantTable('Transaction', 'transactions', 'agentId'),
  ...personalTable({
    keptWhile: {
      words: 'it is no payment by card that was declined',
    },
  }),
  properties: {
    ...recordColumns('txn'),
    agentId: nullable.string(),
    intentId: nullable.string(),
    cardId: nullable.string(),
    transferId: nullable.string(),
    walletId: p.text(),
    runId: nullable.string(),
    type: plain(p.enum(transactionTypes)),
    status: p.enum(transactionMachine.states).onCreate(() => transactionMachine.initial),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    original: plain(nullable.json<TransactionOriginal>()),
    amountCents: centsColumn('amount_cents'),
    refundedCents: zeroCentsColumn('refunded_cents'),
    /** The part that is disputed, or was credited by a dispute: it cannot be refunded as well. */
    disputedCents: zeroCentsColumn('disputed_cents'),
    merchant: personal(p.text(), 'payment', 'vouchers', 'word'),
    mcc: plain(nullable.string()),
    country: plain(nullable.string()),
    memo: personal(nullable.string(), 'words', 'vouchers', 'word'),
    declineReason: plain(nullable.string()),
    witnesses: personal(
      p.json<TransactionWitness[]>().onCreate(() => []),
      'payment',
      'vouchers',
      'empty',
    ),
  },
})

export class Transaction extends schema.class {}
schema.setClass(Transaction)

export const transactionsPersonalData = {
  open_transactions: {
    personal: {},
    plain: [],
  },
} as const satisfies PersonalData

export type TransactionRow = RowOf<Transaction>

const transactionTable = tableOf(Transaction)

export const insertTransactions = insertInto(transactionTable)

export const updateTransactions = updateOf(transactionTable, [
  'updatedAt',
  'type',
  'status',
  'amountCents',
  'refundedCents',
  'intentId',
  'declineReason',
  'witnesses',
  'original',
])

/** The columns that a refund changes: one payment may get many refunds a second. */
export const updateRefundedTransactions = updateOf(transactionTable, ['updatedAt', 'status', 'refundedCents'])

/** Locks in the order of the ids. The caller has locked agents and accounts. */
export const lockTransactions = lockedRowsById(transactionTable)

/** A caller that changes these transactions has locked their agents. */
export const transactionsById = rowsById(transactionTable)

const OF_TRANSFER = `
select ${selectColumnList(transactionTable, 't')} from transactions t
where (t.owner_id, t.mode, t.transfer_id) = ($1, $2, $3) for update`

/** Undefined if the transfer has not been submitted. */
export const findTransactionOfTransfer = async (
  transferId: string,
  sql: Sql,
  { ownerId, mode }: Tenant,
): Promise<TransactionRow | undefined> =>
  (await sql<TransactionRow & Row>(OF_TRANSFER, [ownerId, mode, transferId]))[0]
