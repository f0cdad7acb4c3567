import { insertInto, recordColumns, type Table, updateOf } from '../../kernel/rows.ts'
import type { Intent } from './intent.ts'

/** An intent without its entity: what a group commit loads, decides on and writes. */
export type IntentRow = Pick<
  Intent,
  | 'id'
  | 'ownerId'
  | 'mode'
  | 'createdAt'
  | 'updatedAt'
  | 'agentId'
  | 'status'
  | 'amountEuros'
  | 'currency'
  | 'merchant'
  | 'mcc'
  | 'country'
  | 'purpose'
  | 'beneficiaryId'
  | 'walletId'
  | 'cardId'
  | 'runId'
  | 'delegationId'
  | 'tokenId'
  | 'clientIntentId'
  | 'possibleDuplicateOf'
  | 'likeness'
  | 'expiresAt'
  | 'decidedAt'
  | 'decidedBy'
  | 'comment'
  | 'decision'
  | 'transactionId'
  | 'workflowId'
  | 'metadata'
>

export const intentTable: Table<IntentRow> = {
  name: 'intents',
  columns: {
    ...recordColumns,
    agentId: ['agent_id', 'text'],
    status: ['status', 'text'],
    amountEuros: ['amount_cents', 'bigint'],
    currency: ['currency', 'text'],
    merchant: ['merchant', 'text'],
    mcc: ['mcc', 'text'],
    country: ['country', 'text'],
    purpose: ['purpose', 'text'],
    beneficiaryId: ['beneficiary_id', 'text'],
    walletId: ['wallet_id', 'text'],
    cardId: ['card_id', 'text'],
    runId: ['run_id', 'text'],
    delegationId: ['delegation_id', 'text'],
    tokenId: ['token_id', 'text'],
    clientIntentId: ['client_intent_id', 'text'],
    possibleDuplicateOf: ['possible_duplicate_of', 'text'],
    likeness: ['likeness', 'text'],
    expiresAt: ['expires_at', 'timestamptz'],
    decidedAt: ['decided_at', 'timestamptz'],
    decidedBy: ['decided_by', 'jsonb'],
    comment: ['comment', 'text'],
    decision: ['decision', 'jsonb'],
    transactionId: ['transaction_id', 'text'],
    workflowId: ['workflow_id', 'text'],
    metadata: ['metadata', 'jsonb'],
  },
}

export const insertIntents = insertInto(intentTable)
export const updateIntents = updateOf(intentTable, [
  'status',
  'updatedAt',
  'decidedAt',
  'decidedBy',
  'comment',
  'decision',
])
