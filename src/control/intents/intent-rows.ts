import { insertIntoBoth, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { lockedRowsById, rowsById } from '../../kernel/database/rows-by-id.ts'
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
  'payeeIban',
])

/** Locks intents of the tenant and returns them by their ids, as they are once locked. */
export const lockIntents = lockedRowsById(intentTable)

/** Reads intents of the tenant by their ids, without a lock. */
export const findIntents = rowsById(intentTable)
