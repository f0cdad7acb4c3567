import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { machine } from '../../kernel/contract/machine.ts'
import type { FindPayables, Payable } from '../../kernel/contract/payables.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  centsColumn,
  nullable,
  record,
  tenantTable,
  timestamp,
  withMembers,
  zeroCents,
} from '../../kernel/database/entity.ts'
import { insertInto, type RowOf, rowsById, selectList, tableOf, updateOf } from '../../record-store/index.ts'
import { clock } from '../../values/clock.ts'
import { type Cents, minus, plus } from '../../values/money.ts'
import type { Personal } from '../../values/personal.ts'

/** A SEPA payment is known only once it has arrived. Other payments can be pending. */
export const requestPaymentMachine = machine('request-payment', {
  under_way: ['received', 'failed'],
  received: [],
  failed: [],
})

export const paymentWays = ['sepa', 'card', 'wallet'] as const
export type PaymentWay = (typeof paymentWays)[number]

export const surplusReasons = ['above_amount', 'already_paid', 'expired', 'cancelled'] as const
export type SurplusReason = (typeof surplusReasons)[number]

/** A charge as refunds name it to the acquirer. It authorizes nothing. */
export interface AcquirerCharge {
  readonly handle: string
  readonly reference: string
  readonly descriptor: string
}

const paymentSchema = defineEntity({
  ...tenantTable('RequestPayment', 'request_payments'),
  properties: {
    ...record('requestpayment'),
    requestId: p.text(),
    way: p.enum(paymentWays),
    status: p.enum(requestPaymentMachine.states).onCreate(() => requestPaymentMachine.initial),
    amountCents: centsColumn('amount_cents'),
    countedCents: zeroCents('counted_cents'),
    surplusReason: nullable.enum(surplusReasons),
    refundedCents: zeroCents('refunded_cents'),
    walletId: p.text(),
    sourceId: p.text(),
    charge: nullable.json<AcquirerCharge>(),
    transactionId: nullable.string(),
    receivedAt: nullable.instant(),
  },
})

export class RequestPayment extends paymentSchema.class {}
paymentSchema.setClass(RequestPayment)

/** A refund that the payer’s bank returns makes a request `paid` again. */
export const requestMachine = machine('payment-request', {
  open: ['paid', 'expired', 'cancelled'],
  paid: ['refunded'],
  expired: [],
  cancelled: [],
  refunded: ['paid'],
})

/** SQL condition: the request's process waits for an event. Repeats the condition of the partial index exactly. */
export const NEEDS_RUN = "(status = 'open' or refunding_cents > 0)"

const requestSchema = defineEntity({
  ...tenantTable('PaymentRequest', 'payment_requests', 'agentId', 'delegationId'),
  properties: {
    ...record('request'),
    agentId: nullable.string(),
    delegationId: nullable.string(),
    walletId: p.text(),
    amountCents: centsColumn('amount_cents'),
    description: p.text(),
    payerName: nullable.string(),
    payerEmail: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
    /** Returned only to payers who have paid. */
    unlocks: nullable.json<Record<string, unknown>>(),
    reference: p.text(),
    status: p.enum(requestMachine.states).onCreate(() => requestMachine.initial),
    paidCents: zeroCents('paid_cents'),
    /** Received above the amount or too late. It stays in the wallet. */
    surplusCents: zeroCents('surplus_cents'),
    refundedCents: zeroCents('refunded_cents'),
    refundingCents: zeroCents('refunding_cents'),
    paidBy: nullable.enum(paymentWays),
    paidAt: nullable.instant(),
    expiresAt: timestamp(),
    dueAt: nullable.instant(),
    comment: nullable.string(),
    workflowId: p.text(),
  },
})

export class PaymentRequest extends requestSchema.class {}
requestSchema.setClass(PaymentRequest)

export const dueCents = ({
  amountCents,
  paidCents,
}: Pick<PaymentRequest, 'amountCents' | 'paidCents'>): Cents => minus(amountCents, paidCents)

export const receivedCents = ({
  paidCents,
  surplusCents,
}: Pick<PaymentRequest, 'paidCents' | 'surplusCents'>): Cents => plus(paidCents, surplusCents)

/** Whether the request can be paid at this instant. The deadline counts even if the process has not noticed it. */
export const isPayable = (
  { status, expiresAt }: Pick<PaymentRequest, 'status' | 'expiresAt'>,
  now: Date,
): boolean => status === 'open' && now < expiresAt

export const collectPersonal = {
  payment_requests: {
    personal: {
      description: { kind: 'words', ground: 'vouchers', forget: 'word' },
      payer_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
      payer_email: { kind: 'contact', ground: 'contract', forget: 'null' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
      comment: { kind: 'words', ground: 'contract', forget: 'word' },
      unlocks: { kind: 'words', ground: 'contract', forget: 'null' },
    },
    plain: ['reference', 'paid_by'],
    keptWhile: {
      where: "t.status not in ('cancelled', 'expired') or t.paid_cents + t.surplus_cents > 0",
      words: 'something was paid, or can still be',
    },
    about: { payer: ['id'] },
  },
  request_payments: {
    personal: {
      charge: { kind: 'payment', ground: 'vouchers', forget: 'null' },
    },
    plain: ['way', 'surplus_reason', 'source_id'],
    keptWhile: {
      where: "t.status <> 'failed'",
      words: 'it has not failed',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal

export type RequestRow = RowOf<PaymentRequest>
export type PaymentRow = RowOf<RequestPayment>

export const requestTable = tableOf(PaymentRequest)
export const paymentTable = tableOf(RequestPayment)

export const updateRequests = updateOf(requestTable, [
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
export const insertPayments = insertInto(paymentTable)
export const updatePayments = updateOf(paymentTable, [
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

/**
 * The newest payments of a request that can be refunded, optionally of one source. Changing them requires the
 * lock of the request.
 */
export const refundablePayments = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  { id, sourceId = null }: { readonly id: string; readonly sourceId?: string | null | undefined },
  most: number,
): Promise<PaymentRow[]> => sql<PaymentRow & Row>(RECEIVED, [ownerId, mode, id, most, sourceId])

export const paymentsById = rowsById(paymentTable)

interface PayableRow extends Row, Payable {
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
    const isOverdue = payable.status === 'open' && !isPayable(payable, clock.tenant(offsetMs))
    return { ...payable, status: isOverdue ? 'expired' : payable.status }
  })
}

const payUrlOf = (id: string, { ports }: Pick<Context, 'ports'>): string => `${ports.publicUrl()}/pay/${id}`

export const mppUrlOf = (id: string, { ports }: Pick<Context, 'ports'>): string =>
  `${ports.publicUrl()}/collect/402/${id}`

export const requestResponse = <R extends PaymentRequest | RequestRow>(
  request: R,
  context: Pick<Context, 'ports'>,
) =>
  withMembers(request, {
    payUrl: payUrlOf(request.id, context),
    mppUrl: mppUrlOf(request.id, context),
  })
