import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { FindPayables, PayableRecord } from '../../kernel/contract/payables.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, rowsById, selectColumnList, updateOf } from '../../kernel/database/bulk-sql.ts'
import {
  centsColumn,
  metadataColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
  zeroCentsColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { clock } from '../../values/clock.ts'
import { addCents, type Cents, subtractCents } from '../../values/money.ts'

/** A SEPA payment is known only once it has arrived. Other payments can be pending. */
export const requestPaymentMachine = stateMachine('request-payment', {
  under_way: ['received', 'failed'],
  received: [],
  failed: [],
})

export const paymentWays = ['sepa', 'card', 'wallet'] as const
export type PaymentWay = (typeof paymentWays)[number]

export const paymentSurplusReasons = ['above_amount', 'already_paid', 'expired', 'cancelled'] as const
export type PaymentSurplusReason = (typeof paymentSurplusReasons)[number]

/** A charge as refunds name it to the acquirer. It authorizes nothing. */
export interface AcquirerCharge {
  readonly handle: string
  readonly reference: string
  readonly descriptor: string
}

const paymentSchema = defineEntity({
  ...tenantTable('RequestPayment', 'request_payments'),
  ...personalTable({
    about: { payer: ['request_id'] },
    keptWhile: {
      where: "t.status <> 'failed'",
      words: 'it has not failed',
    },
  }),
  properties: {
    ...recordColumns('requestpayment'),
    requestId: p.text(),
    way: plain(p.enum(paymentWays)),
    status: p.enum(requestPaymentMachine.states).onCreate(() => requestPaymentMachine.initial),
    amountCents: centsColumn('amount_cents'),
    countedCents: zeroCentsColumn('counted_cents'),
    surplusReason: plain(nullable.enum(paymentSurplusReasons)),
    refundedCents: zeroCentsColumn('refunded_cents'),
    walletId: p.text(),
    sourceId: plain(p.text()),
    charge: personal(nullable.json<AcquirerCharge>(), 'payment', 'vouchers', 'null'),
    transactionId: nullable.string(),
    receivedAt: nullable.instant(),
  },
})

export class RequestPayment extends paymentSchema.class {}
paymentSchema.setClass(RequestPayment)

/** A refund that the payer’s bank returns makes a request `paid` again. */
export const paymentRequestMachine = stateMachine('payment-request', {
  open: ['paid', 'expired', 'cancelled'],
  paid: ['refunded'],
  expired: [],
  cancelled: [],
  refunded: ['paid'],
})

/** SQL condition: the request's process waits for an event. Repeats the condition of the partial index exactly. */
export const REQUEST_NEEDS_RUN_SQL = "(status = 'open' or refunding_cents > 0)"

const requestSchema = defineEntity({
  ...tenantTable('PaymentRequest', 'payment_requests', 'agentId', 'delegationId'),
  ...personalTable({
    about: { payer: ['id'] },
    keptWhile: {
      where: "t.status not in ('cancelled', 'expired') or t.paid_cents + t.surplus_cents > 0",
      words: 'something was paid, or can still be',
    },
  }),
  properties: {
    ...recordColumns('request'),
    agentId: nullable.string(),
    delegationId: nullable.string(),
    walletId: p.text(),
    amountCents: centsColumn('amount_cents'),
    description: personal(p.text(), 'words', 'vouchers', 'word'),
    payerName: personal(nullable.string(), 'name', 'vouchers', 'word'),
    payerEmail: personal(nullable.string(), 'contact', 'contract', 'null'),
    metadata: personal(metadataColumn(), 'words', 'contract', 'empty'),
    /** Returned only to payers who have paid. */
    unlocks: personal(nullable.json<Record<string, unknown>>(), 'words', 'contract', 'null'),
    reference: plain(p.text()),
    status: p.enum(paymentRequestMachine.states).onCreate(() => paymentRequestMachine.initial),
    paidCents: zeroCentsColumn('paid_cents'),
    /** Received above the amount or too late. It stays in the wallet. */
    surplusCents: zeroCentsColumn('surplus_cents'),
    refundedCents: zeroCentsColumn('refunded_cents'),
    refundingCents: zeroCentsColumn('refunding_cents'),
    paidBy: plain(nullable.enum(paymentWays)),
    paidAt: nullable.instant(),
    expiresAt: timestampColumn(),
    dueAt: nullable.instant(),
    comment: personal(nullable.string(), 'words', 'contract', 'word'),
    workflowId: p.text(),
  },
})

export class PaymentRequest extends requestSchema.class {}
requestSchema.setClass(PaymentRequest)

export const amountDueCents = ({
  amountCents,
  paidCents,
}: Pick<PaymentRequest, 'amountCents' | 'paidCents'>): Cents => subtractCents(amountCents, paidCents)

export const totalReceivedCents = ({
  paidCents,
  surplusCents,
}: Pick<PaymentRequest, 'paidCents' | 'surplusCents'>): Cents => addCents(paidCents, surplusCents)

/** Whether the request can be paid at this instant. The deadline counts even if the process has not noticed it. */
export const isRequestPayable = (
  { status, expiresAt }: Pick<PaymentRequest, 'status' | 'expiresAt'>,
  now: Date,
): boolean => status === 'open' && now < expiresAt

export type PaymentRequestRow = RowOf<PaymentRequest>
export type RequestPaymentRow = RowOf<RequestPayment>

export const paymentRequestTable = tableOf(PaymentRequest)
export const requestPaymentTable = tableOf(RequestPayment)

export const updatePaymentRequests = updateOf(paymentRequestTable, [
  'updatedAt',
  'status',
  'paidCents',
  'surplusCents',
  'refundedCents',
  'refundingCents',
  'paidBy',
  'paidAt',
  'dueAt',
  'comment',
])
export const insertRequestPayments = insertInto(requestPaymentTable)
export const updateRequestPayments = updateOf(requestPaymentTable, [
  'updatedAt',
  'status',
  'amountCents',
  'countedCents',
  'surplusReason',
  'refundedCents',
  'transactionId',
  'receivedAt',
  'charge',
])

const OPEN_OF_WALLETS = `
select r.id from unnest($3::text[]) as w (id)
cross join lateral (
  select one.id from payment_requests one
  where (one.owner_id, one.mode, one.wallet_id) = ($1, $2, w.id) and one.status = 'open') r`

export async function openRequestsOfWallets(
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletIds: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string } & Row>(OPEN_OF_WALLETS, [ownerId, mode, walletIds])
  return rows.map(({ id }) => id)
}

const RECEIVED = `
select ${selectColumnList(requestPaymentTable, 'p')} from request_payments p
where (p.owner_id, p.mode, p.request_id) = ($1, $2, $3) and p.status = 'received' and p.refunded_cents < p.amount_cents
  and ($5::text is null or p.source_id = $5)
order by p.id desc limit $4`

/**
 * The newest payments of a request that can be refunded, optionally of one source. Changing them requires the
 * lock of the request.
 */
export const refundableRequestPayments = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  { id, sourceId = null }: { readonly id: string; readonly sourceId?: string | null | undefined },
  most: number,
): Promise<RequestPaymentRow[]> => sql<RequestPaymentRow & Row>(RECEIVED, [ownerId, mode, id, most, sourceId])

export const requestPaymentsById = rowsById(requestPaymentTable)

interface PayableRow extends Row, PayableRecord {
  readonly offsetMs: number
}

const LOCK = `
select id from payment_requests where owner_id = $1 and mode = $2 and id = any($3::text[])
order by id for no key update`

const FIND = `
select r.id, r.owner_id as "ownerId", r.wallet_id as "walletId", r.amount_cents - r.paid_cents as "amountCents",
  c.name as payee, r.status, r.expires_at as "expiresAt", coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from unnest($2::text[]) as w (id)
cross join lateral (select * from payment_requests one where one.id = w.id limit 1) r
cross join lateral (select name from customers one where one.id = r.owner_id limit 1) c
left join tenant_clocks t on (t.owner_id, t.mode) = (r.owner_id, r.mode)
where r.mode = $1`

/**
 * Finds requests as their payers may know them, with the holder's public name. Locked requests are read after
 * the lock, as the statements are sent in this order.
 */
export const findPayableRequests: FindPayables = async (ids, mode, sql, lockedFor) => {
  const locking = lockedFor ? sql(LOCK, [lockedFor.ownerId, lockedFor.mode, ids]) : undefined
  const [rows] = await Promise.all([sql<PayableRow>(FIND, [mode, ids]), locking])
  return rows.map(({ offsetMs, ...payable }) => {
    const isOverdue = payable.status === 'open' && !isRequestPayable(payable, clock.tenant(offsetMs))
    return { ...payable, status: isOverdue ? 'expired' : payable.status }
  })
}

const payUrlOf = (id: string, { service }: ReadContext): string => `${service.publicUrl()}/pay/${id}`

export const requestPaymentUrl = (id: string, { service }: ReadContext): string =>
  `${service.publicUrl()}/collect/402/${id}`

export const paymentRequestResponse = <R extends PaymentRequest | PaymentRequestRow>(
  request: R,
  context: ReadContext,
) =>
  withMembers(request, {
    payUrl: payUrlOf(request.id, context),
    mppUrl: requestPaymentUrl(request.id, context),
  })
