import { insertInto, recordColumns, type Table } from '../../kernel/database/bulk-sql.ts'
import type { Transfer } from './transfer.ts'

const columns = {
  ...recordColumns,
  agentId: ['agent_id', 'text'],
  fromWalletId: ['from_wallet_id', 'text'],
  toWalletId: ['to_wallet_id', 'text'],
  beneficiaryId: ['beneficiary_id', 'text'],
  intentId: ['intent_id', 'text'],
  tokenId: ['token_id', 'text'],
  delegationId: ['delegation_id', 'text'],
  kind: ['kind', 'text'],
  scheme: ['scheme', 'text'],
  amountEuros: ['amount_cents', 'bigint'],
  reference: ['reference', 'text'],
  endToEndId: ['end_to_end_id', 'text'],
  payee: ['payee', 'jsonb'],
  status: ['status', 'text'],
  countedOn: ['counted_on', 'date'],
  inquiries: ['inquiries', 'int'],
  dueAt: ['due_at', 'timestamptz'],
  completedAt: ['completed_at', 'timestamptz'],
  transactionId: ['transaction_id', 'text'],
  workflowId: ['workflow_id', 'text'],
} as const

/** A transfer without its entity: what a group commit decides and writes. */
export type TransferRow = Pick<Transfer, keyof typeof columns>

const table: Table<TransferRow> = { name: 'transfers', columns }

export const insertTransfers = insertInto(table)

/** What an answer shows besides: a transfer that has just been made has none of it. */
export const unset = {
  parts: null,
  payeeCheck: null,
  payeeConfirmedAt: null,
  reason: null,
  recall: null,
  submittedAt: null,
} as const
