import { insertInto, recordColumns, type Table } from '../../kernel/rows.ts'
import type { Transaction } from './transaction.ts'

/** A transaction without its entity: what a group commit writes. */
export type TransactionRow = Pick<
  Transaction,
  | 'id'
  | 'ownerId'
  | 'mode'
  | 'createdAt'
  | 'updatedAt'
  | 'agentId'
  | 'intentId'
  | 'cardId'
  | 'transferId'
  | 'walletId'
  | 'runId'
  | 'type'
  | 'status'
  | 'currency'
  | 'amountEuros'
  | 'refundedEuros'
  | 'merchant'
  | 'mcc'
  | 'country'
  | 'memo'
  | 'declineReason'
  | 'witnesses'
>

const table: Table<TransactionRow> = {
  name: 'transactions',
  columns: {
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
  },
}

export const insertTransactions = insertInto(table)
