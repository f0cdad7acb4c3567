import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertIntoBoth, selectList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { decisionTable } from '../decisions/index.ts'
import { Intent } from './intent.ts'

/** An intent without its entity: what a group commit loads, decides on and writes. */
export type IntentRow = RowOf<Intent>

const intentTable = tableOf(Intent)

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
