import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertIntoBoth, selectList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { decisionTable } from '../decisions/index.ts'
import { Intent } from './intent.ts'

/** An intent as a plain object, as group commits load, decide and write it. */
export type IntentRow = RowOf<Intent>

const intentTable = tableOf(Intent)

/** Inserts intents together with the decisions about them. */
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
  'holdEuros',
  'expiresAt',
])

const LOCK = `
select ${selectList(intentTable, 'i')} from intents i
where i.owner_id = $1 and i.mode = $2 and i.id = any($3::text[])
order by i.id for no key update`

/** Locks intents of the tenant and returns them by their ids, as they are once locked. */
export async function lockIntents(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, IntentRow>> {
  const rows = await sql<IntentRow & Row>(LOCK, [ownerId, mode, ids])
  return new Map(rows.map(row => [row.id, row]))
}
