import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, rowsById, selectList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { Refund, refundMachine } from './refund.ts'

/** A refund as a plain row, which any step writes together with what it moves. */
export type RefundRow = RowOf<Refund>

/** A refund of which nothing is known but that it begins. */
export const blankRefund = {
  transactionId: null,
  agentId: null,
  walletId: null,
  status: refundMachine.initial,
  arrivedEuros: 0n,
  reason: null,
  note: null,
  failure: null,
  sourceType: null,
  sourceId: null,
  attempts: 0,
  askDueAt: null,
  merchantAskedAt: null,
  dueAt: null,
  completedAt: null,
  workflowId: null,
} as const

const refundTable = tableOf(Refund)

export const insertRefunds = insertInto(refundTable)

export const updateRefunds = updateOf(refundTable, [
  'updatedAt',
  'transactionId',
  'walletId',
  'status',
  'amountEuros',
  'arrivedEuros',
  'failure',
  'sourceType',
  'sourceId',
  'attempts',
  'askDueAt',
  'merchantAskedAt',
  'dueAt',
  'completedAt',
])

export const refundsById = rowsById(refundTable)

const AWAITED = `
select ${selectList(refundTable, 'r')} from refunds r
where r.owner_id = $1 and r.mode = $2 and r.transaction_id = any($3::text[]) and r.status = 'pending'`

const OF_SOURCES = `
select ${selectList(refundTable, 'r')} from refunds r
where r.owner_id = $1 and r.mode = $2 and r.source_type = $3 and r.source_id = any($4::text[])`

/** The refunds that are awaited for these payments. Whoever changes them has locked agent or payment. */
export const awaitedOf = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  transactionIds: readonly string[],
): Promise<RefundRow[]> =>
  transactionIds.length === 0 ? [] : sql<RefundRow & Row>(AWAITED, [ownerId, mode, transactionIds])

/** The refunds that these records speak for. */
export const ofSources = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  type: string,
  ids: readonly string[],
): Promise<RefundRow[]> =>
  ids.length === 0 ? [] : sql<RefundRow & Row>(OF_SOURCES, [ownerId, mode, type, ids])
