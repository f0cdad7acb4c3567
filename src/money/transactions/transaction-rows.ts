import { insertInto, recordColumns, type Table } from '../../kernel/database/bulk-sql.ts'
import type { Transaction } from './transaction.ts'

const columns = {
  ...recordColumns,
  agentId: ['agent_id', 'text'],
  intentId: ['intent_id', 'text'],
  cardId: ['card_id', 'text'],
  transferId: ['transfer_id', 'text'],
  walletId: ['wallet_id', 'text'],
  runId: ['run_id', 'text'],
  type: ['type', 'text'],
  status: ['status', 'text'],
  currency: ['currency', 'text'],
  amountEuros: ['amount_cents', 'bigint'],
  refundedEuros: ['refunded_cents', 'bigint'],
  merchant: ['merchant', 'text'],
  mcc: ['mcc', 'text'],
  country: ['country', 'text'],
  memo: ['memo', 'text'],
  declineReason: ['decline_reason', 'text'],
  witnesses: ['witnesses', 'jsonb'],
} as const

/** A transaction as a plain row, which a group commit inserts without an entity. */
export type TransactionRow = Pick<Transaction, keyof typeof columns>

const table: Table<TransactionRow> = { name: 'transactions', columns }

export const insertTransactions = insertInto(table)
