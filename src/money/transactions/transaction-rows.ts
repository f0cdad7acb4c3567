import { insertInto, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { lockedRowsById, rowsById } from '../../kernel/database/rows-by-id.ts'
import { Transaction } from './transaction.ts'

/** A transaction as a plain row, which a group commit inserts without an entity. */
export type TransactionRow = RowOf<Transaction>

const transactionTable = tableOf(Transaction)

export const insertTransactions = insertInto(transactionTable)

export const updateTransactions = updateOf(transactionTable, [
  'updatedAt',
  'type',
  'status',
  'amountEuros',
  'refundedEuros',
  'intentId',
  'declineReason',
  'witnesses',
])

/** What a refund changes of a payment: many of one payment may be made a second. */
export const updateRefunded = updateOf(transactionTable, ['updatedAt', 'status', 'refundedEuros'])

/** Locks transactions by their ids, in the order of these. Agents and accounts are locked before. */
export const lockTransactions = lockedRowsById(transactionTable)

/** Reads transactions by their ids. Whoever changes them has locked their agents. */
export const transactionsById = rowsById(transactionTable)
