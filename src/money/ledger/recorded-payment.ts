import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Failure } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import type { AccountKind } from './account.ts'
import type { Book, Cause } from './book.ts'
import { openBook } from './open-book.ts'
import type { Template } from './templates.ts'

/** Why the operator's record of a payment is refused. */
export const recordFails = {
  customer_not_found: [404, 'ownerId: no such customer.'],
  reference_used: [409, 'reference: another payment is booked under it. Give the reference of this one.'],
} as const satisfies Record<string, Failure>

/** What a bank or an acquirer has paid, as the operator records it. */
interface RecordedPayment extends Tenant {
  readonly amountEuros: Euros
  readonly reference: string
}

/** How it is posted. */
interface Posting {
  readonly kind: Template
  readonly causeType: string
  readonly accounts: readonly AccountKind[]
}

interface Opened {
  readonly book: Book
  readonly cause: Cause
  /** This very payment is booked already: it is answered again, and nothing moves. */
  readonly isBooked: boolean
}

const POSTED = `
select max(e.amount_cents) as "amountEuros" from ledger_transfers t
join ledger_entries e on (e.owner_id, e.mode, e.transfer_id) = (t.owner_id, t.mode, t.id)
where (t.owner_id, t.mode, t.reference_id, t.reference_type, t.kind) = ($1, $2, $3, $4, $5)`

/** What was moved for the cause, or null. Asked once the accounts are locked: it is certain then. */
async function postedEuros(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { kind }: Posting,
  { type, id }: Cause,
): Promise<Euros | null> {
  const [row] = await sql<{ amountEuros: Euros | null }>(POSTED, [ownerId, mode, id, type, kind])
  return row?.amountEuros ?? null
}

/** Opens the ledger of the owner for a payment that is booked once for each reference, and never with two amounts. */
export async function openForRecord(
  { ownerId, mode, amountEuros, reference }: RecordedPayment,
  posting: Posting,
  context: Context<keyof typeof recordFails>,
): Promise<Opened | Refusal> {
  const { sql, refuse } = context
  const [customer] = await sql('select id from customers where id = $1', [ownerId])
  if (!customer) return refuse('customer_not_found')
  const tenant = { ownerId, mode }
  context.actFor(tenant)
  const cause = { type: posting.causeType, id: reference }
  const [book, booked] = await Promise.all([
    openBook(sql, context, { wallets: [], others: posting.accounts }),
    postedEuros(sql, tenant, posting, cause),
  ])
  if (booked !== null && booked !== amountEuros) return refuse('reference_used', otherAmount(booked))
  return { book, cause, isBooked: booked !== null }
}

const otherAmount = (booked: Euros): string =>
  `reference: ${formatEuros(booked)} are booked under it for this owner. Give the reference of this payment, or the amount of that one.`
