import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Cents, formatMoney, NO_CENTS, subtractCents } from '../../values/money.ts'
import { openBookForRecordedPayment } from '../ledger/index.ts'
import type { suspenseApi } from './api.ts'

const WAITING = `(select coalesce(sum(c.amount_cents), 0)::bigint from incoming_credits c
  where c.owner_id = a.owner_id and c.mode = a.mode and c.status = 'unmatched')`

const ACCOUNTS = `
select a.id, a.owner_id as "ownerId", a.mode, a.posted_cents as "suspenseCents", ${WAITING} as "creditsCents"
from ledger_accounts a
where a.kind = 'suspense' and a.posted_cents <> 0 and a.id > $1 order by a.id limit $2`

interface SuspenseRow extends Row, Tenant {
  readonly id: string
  readonly suspenseCents: Cents
  readonly creditsCents: Cents
}

const free = ({ suspenseCents, creditsCents }: Pick<SuspenseRow, 'suspenseCents' | 'creditsCents'>): Cents =>
  suspenseCents > creditsCents ? subtractCents(suspenseCents, creditsCents) : NO_CENTS

export const listSuspenseBalances: HandlerOf<typeof suspenseApi.suspense> = async (_, { sql, pageBy }) => {
  const { data, ...cursor } = await pageBy((after, most) => sql<SuspenseRow>(ACCOUNTS, [after ?? '', most]))
  return { ...cursor, data: data.map(row => ({ ...row, freeCents: free(row) })) }
}

const OF_TENANT = `select ${WAITING} as "creditsCents" from (values ($1::text, $2::text)) as a (owner_id, mode)`

/** Reads once the account is locked, since credits change only under that lock. */
async function waiting(sql: Sql, { ownerId, mode }: Tenant): Promise<Cents> {
  const [row] = await sql<Row & { creditsCents: Cents }>(OF_TENANT, [ownerId, mode])
  return row?.creditsCents ?? NO_CENTS
}

const BY_REFERENCE = `select pg_advisory_xact_lock(hashtextextended('suspense_payout|' || $1 || '|' || $2, 0))`

const PAID_TO_ANOTHER = `
select owner_id as "ownerId" from ledger_transfers
where kind = 'suspense_payout' and reference_id = $1 and mode = $2 and owner_id <> $3 limit 1`

/**
 * Another owner that the bank has paid under this reference; null if there is none. Locks the reference until
 * the commit.
 */
async function paidToAnother(
  sql: Sql,
  { ownerId, mode, reference }: Tenant & { readonly reference: string },
): Promise<string | undefined> {
  const [, [other]] = await Promise.all([
    sql(BY_REFERENCE, [mode, reference]),
    sql<Row & { ownerId: string }>(PAID_TO_ANOTHER, [reference, mode, ownerId]),
  ])
  return other?.ownerId
}

const PAYOUT = {
  kind: 'suspense_payout',
  causeType: 'suspense_payout',
  accounts: ['bank', 'suspense'],
} as const

/** Books the bank's payment to the owner out of the suspense account, without touching the money of waiting credits. */
export const recordSuspensePayout: HandlerOf<typeof suspenseApi.payOut> = async ({ body }, context) => {
  const { sql, emit, refuse, queueStatement } = context
  const { amountCents, reference } = body
  const other = await paidToAnother(sql, body)
  if (other)
    return refuse(
      'reference_used',
      `reference: it is already booked for a payment to ${other}. Use the reference of this payment.`,
    )
  const opened = await openBookForRecordedPayment(body, PAYOUT, context)
  if (opened instanceof Refusal) return opened
  const { book, cause, isBooked } = opened
  const { tenant } = context
  const creditsCents = await waiting(sql, tenant)
  const standing = () => {
    const suspenseCents = book.available('suspense')
    return { ...tenant, suspenseCents, creditsCents, freeCents: free({ suspenseCents, creditsCents }) }
  }
  if (isBooked) return standing()
  const { freeCents } = standing()
  if (amountCents > freeCents)
    return refuse(
      'exceeds_suspense_balance',
      `amountEuros exceeds the suspense balance of ${formatMoney(freeCents)}. Pay out at most that.`,
    )
  book.move(PAYOUT.kind, 'suspense', 'bank', amountCents, cause)
  queueStatement(book.post(sql))
  const left = standing()
  emit('suspense.paid_out', { payoutId: reference, amountCents, freeCents: left.freeCents })
  return left
}
