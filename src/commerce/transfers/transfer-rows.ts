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

/** The columns of a transfer that a group commit writes, without the entity: thousands a second are made. */
export type TransferRow = Pick<Transfer, keyof typeof columns>

const table: Table<TransferRow> = { name: 'transfers', columns }

export const insertTransfers = insertInto(table)

/** The other members of the response: a transfer that has just been made has none of them. */
export const unsetFields = {
  parts: null,
  payeeCheck: null,
  payeeConfirmedAt: null,
  reason: null,
  recall: null,
  submittedAt: null,
} as const
