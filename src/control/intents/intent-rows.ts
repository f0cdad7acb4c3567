import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  insertIntoBoth,
  recordColumns,
  selectList,
  type Table,
  updateOf,
} from '../../kernel/database/bulk-sql.ts'
import { decisionTable } from '../decisions/index.ts'
import type { Intent } from './intent.ts'

const columns = {
  ...recordColumns,
  agentId: ['agent_id', 'text'],
  status: ['status', 'text'],
  amountEuros: ['amount_cents', 'bigint'],
  currency: ['currency', 'text'],
  merchant: ['merchant', 'text'],
  payeeIban: ['payee_iban', 'text'],
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
  paymentId: ['payment_id', 'text'],
  workflowId: ['workflow_id', 'text'],
  metadata: ['metadata', 'jsonb'],
} as const

/** An intent without its entity: what a group commit loads, decides on and writes. */
export type IntentRow = Pick<Intent, keyof typeof columns>

export const intentTable: Table<IntentRow> = { name: 'intents', columns }

/** Each with the decision that was made about it. */
export const insertIntents = insertIntoBoth(intentTable, decisionTable)
export const updateIntents = updateOf(intentTable, [
  'status',
  'updatedAt',
  'decidedAt',
  'decidedBy',
  'comment',
  'decision',
  'transactionId',
  'paymentId',
  'expiresAt',
])

/** By their ids and those of the tenant's agents: of a young table PostgreSQL would rather read all that the tenant has. */
const LOCK = `
select ${selectList(intentTable, 'i')}
from intents i
join agents a on a.id = i.agent_id and (a.owner_id, a.mode) = ($1, $2)
where i.id = any($3::text[])
order by i.id for update of i`

/** As they are once they are held, by their ids; none that is not the tenant's. */
export async function lockIntents(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, IntentRow>> {
  const rows = await sql<IntentRow & Row>(LOCK, [ownerId, mode, ids])
  return new Map(rows.map(row => [row.id, row]))
}
