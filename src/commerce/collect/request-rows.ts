import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { FindPayables, Payable } from '../../kernel/contract/payables.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, rowsById, selectList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { clock } from '../../values/clock.ts'
import { isPayable, PaymentRequest, RequestPayment } from './request.ts'

/** A request as a plain row: whoever pays it, by whatever credential, changes the same one. */
export type RequestRow = RowOf<PaymentRequest>
export type PaymentRow = RowOf<RequestPayment>

const requestTable = tableOf(PaymentRequest)
const paymentTable = tableOf(RequestPayment)

export const updateRequests = updateOf(requestTable, [
  'updatedAt',
  'status',
  'paidEuros',
  'surplusEuros',
  'refundedEuros',
  'refundingEuros',
  'paidBy',
  'paidAt',
  'dueAt',
  'comment',
])
export const insertPayments = insertInto(paymentTable)
export const updatePayments = updateOf(paymentTable, [
  'updatedAt',
  'status',
  'amountEuros',
  'countedEuros',
  'surplusReason',
  'refundedEuros',
  'transactionId',
  'receivedAt',
  'charge',
])

const LOCK_REQUESTS = `
select ${selectList(requestTable, 'r')} from payment_requests r
where r.owner_id = $1 and r.mode = $2 and r.id = any($3::text[])
order by r.id for no key update`

const UNDER_WAY = `
select ${selectList(paymentTable, 'p')} from unnest($3::text[]) as w (id)
cross join lateral (
  select * from request_payments one
  where (one.owner_id, one.mode, one.request_id) = ($1, $2, w.id) and one.status = 'under_way' limit 1) p`

/** Locks requests of the tenant in the order of their ids; then reads which payments are under way on them. */
export async function lockRequestRows(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<{ requests: RequestRow[]; underWay: PaymentRow[] }> {
  if (ids.length === 0) return { requests: [], underWay: [] }
  const [requests, underWay] = await Promise.all([
    sql<RequestRow & Row>(LOCK_REQUESTS, [ownerId, mode, ids]),
    sql<PaymentRow & Row>(UNDER_WAY, [ownerId, mode, ids]),
  ])
  return { requests, underWay }
}

const OPEN_OF_WALLETS = `
select r.id from unnest($3::text[]) as w (id)
cross join lateral (
  select one.id from payment_requests one
  where (one.owner_id, one.mode, one.wallet_id) = ($1, $2, w.id) and one.status = 'open') r`

/** The ids of the open requests for these wallets. */
export async function openRequestsOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletIds: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string } & Row>(OPEN_OF_WALLETS, [ownerId, mode, walletIds])
  return rows.map(({ id }) => id)
}

const RECEIVED = `
select ${selectList(paymentTable, 'p')} from request_payments p
where (p.owner_id, p.mode, p.request_id) = ($1, $2, $3) and p.status = 'received' and p.refunded_cents < p.amount_cents
  and ($5::text is null or p.source_id = $5)
order by p.id desc limit $4`

/** The newest payments of a request of which something can go back; of one source, where it is named. Whoever changes them has locked the request. */
export const refundablePayments = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  { id, sourceId = null }: { readonly id: string; readonly sourceId?: string | null | undefined },
  most: number,
): Promise<PaymentRow[]> => sql<PaymentRow & Row>(RECEIVED, [ownerId, mode, id, most, sourceId])

/** Payments by their ids. Whoever changes them has locked their request. */
export const paymentsById = rowsById(paymentTable)

interface PayableRow extends Row, Payable {
  /** How far the clock of its owner is ahead. */
  readonly offsetMs: number
}

const LOCK = `
select id from payment_requests where owner_id = $1 and mode = $2 and id = any($3::text[])
order by id for no key update`

/** One look-up for each id, however large the tables are. */
const FIND = `
select r.id, r.owner_id as "ownerId", r.wallet_id as "walletId", r.amount_cents - r.paid_cents as "amountEuros",
  c.name as payee, r.status, r.expires_at as "expiresAt", coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from unnest($2::text[]) as w (id)
cross join lateral (select * from payment_requests one where one.id = w.id limit 1) r
cross join lateral (select name from customers one where one.id = r.owner_id limit 1) c
left join tenant_clocks t on (t.owner_id, t.mode) = (r.owner_id, r.mode)
where r.mode = $1`

/**
 * Finds requests as those who pay them may know them: by the public name of the holder. What is locked is read behind the
 * lock, as the statements are sent in this order.
 */
export const findPayableRequests: FindPayables = async (ids, mode, sql, lockedFor) => {
  const locking = lockedFor ? sql(LOCK, [lockedFor.ownerId, lockedFor.mode, ids]) : undefined
  const [rows] = await Promise.all([sql<PayableRow>(FIND, [mode, ids]), locking])
  return rows.map(({ offsetMs, ...payable }) => {
    const isOverdue = payable.status === 'open' && !isPayable(payable, clock.tenant(offsetMs))
    return { ...payable, status: isOverdue ? 'expired' : payable.status }
  })
}

/** The page for a person who is to pay. */
const payUrlOf = (id: string, { ports }: Pick<Context, 'ports'>): string => `${ports.publicUrl()}/pay/${id}`

/** The address for a program that is to pay. */
export const mppUrlOf = (id: string, { ports }: Pick<Context, 'ports'>): string =>
  `${ports.publicUrl()}/collect/402/${id}`

/** A request as its owner is shown it. */
export const requestResponse = <R extends PaymentRequest | RequestRow>(
  request: R,
  context: Pick<Context, 'ports'>,
) =>
  withMembers(request, {
    payUrl: payUrlOf(request.id, context),
    mppUrl: mppUrlOf(request.id, context),
  })
