import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { Transfer } from './transfer.ts'

/** The other members of the response: a transfer that has just been made has none of them. */
export const unsetFields = {
  parts: null,
  payeeCheck: null,
  payeeConfirmedAt: null,
  reason: null,
  recall: null,
  submittedAt: null,
} as const

const UNSET = [
  'parts',
  'payeeCheck',
  'payeeConfirmedAt',
  'reason',
  'recall',
  'submittedAt',
  'acknowledgedAt',
] as const satisfies readonly (keyof Transfer)[]

/** The columns of a transfer that a group commit writes, without the entity: thousands a second are made. */
export type TransferRow = RowOf<Transfer, (typeof UNSET)[number]>

export const insertTransfers = insertInto(tableOf(Transfer, UNSET))
