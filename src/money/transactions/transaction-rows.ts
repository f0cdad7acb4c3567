import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { Transaction } from './transaction.ts'

/** A transaction as a plain row, which a group commit inserts without an entity. */
export type TransactionRow = RowOf<Transaction>

export const insertTransactions = insertInto(tableOf(Transaction))
