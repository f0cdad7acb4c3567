import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, rowsById, selectList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { PaymentRequest } from './request.ts'
import { RequestPayment } from './request-payment.ts'

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

const TENANT_OF_REQUEST = `
select owner_id as "ownerId", mode from payment_requests where id = $1`

/** Whose request this is: payers name it by its id alone. */
export async function tenantOfRequest(sql: Sql, id: string): Promise<Tenant | undefined> {
  const [tenant] = await sql<Tenant & Row>(TENANT_OF_REQUEST, [id])
  return tenant && { ownerId: tenant.ownerId, mode: tenant.mode }
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
