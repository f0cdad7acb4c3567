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

const SELECT = `
select ${selectList(intentTable, 'i')} from intents i
where i.owner_id = $1 and i.mode = $2 and i.id = any($3::text[])`
const LOCK = `${SELECT}
order by i.id for no key update`

const byId =
  (statement: string) =>
  async (
    sql: Sql,
    { ownerId, mode }: Tenant,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, IntentRow>> => {
    if (ids.length === 0) return new Map()
    const rows = await sql<IntentRow & Row>(statement, [ownerId, mode, ids])
    return new Map(rows.map(row => [row.id, row]))
  }

/** Locks intents of the tenant and returns them by their ids, as they are once locked. */
export const lockIntents = byId(LOCK)

/** Reads intents of the tenant by their ids, without a lock. */
export const findIntents = byId(SELECT)
