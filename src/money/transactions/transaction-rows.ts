import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, selectList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
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

const SELECT = `
select ${selectList(transactionTable, 't')} from transactions t
where t.owner_id = $1 and t.mode = $2 and t.id = any($3::text[])`

/** Reads transactions by their ids. Whoever changes them has locked their agents. */
export async function transactionsById(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TransactionRow>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<TransactionRow & Row>(SELECT, [ownerId, mode, ids])
  return new Map(rows.map(row => [row.id, row]))
}
