import type { Cents } from '../../values/money.ts'
import type { Mode, Tenant } from './actor.ts'
import type { Sql } from './sql.ts'

/** The state of a record that asks for money. Only `open` ones are paid. */
const payableStates = ['open', 'paid', 'expired', 'cancelled', 'refunded'] as const

/** A record that asks for money, as an intent names it: a payment request, which may be another owner's. */
export interface Payable {
  readonly id: string
  /** The owner who gets the money. */
  readonly ownerId: string
  readonly walletId: string
  /** What is missing before it is paid. */
  readonly amountCents: Cents
  /** The holder's public name, never that of the wallet. */
  readonly payee: string
  /** By the clock of its owner: what is overdue is `expired`, whether or not its end is recorded yet. */
  readonly status: (typeof payableStates)[number]
  readonly expiresAt: Date
}

/**
 * Finds records that ask for money, of any owner; an unknown id is left out. `lockedFor` locks those of that tenant until
 * the transaction ends, so that nothing else pays or ends them meanwhile. The areas that have such records lie to the
 * right of the intents and may not be imported there, so they register this function.
 */
export type FindPayables = (
  ids: readonly string[],
  mode: Mode,
  sql: Sql,
  lockedFor?: Tenant,
) => Promise<readonly Payable[]>

/** The states of a payment on an intent, the same for every means of payment. */
export const paymentStates = [
  'created',
  'verifying',
  'submitted',
  'completed',
  'rejected',
  'cancelled',
  'returned',
] as const

/** What pays: a transfer, a card, or a machine payment. */
export const paymentTypes = ['transfer', 'card', 'mpp'] as const

export type PaymentState = (typeof paymentStates)[number]

/** A payment on an intent, as the area that makes it reports it. */
export interface IntentPayment {
  readonly intentId: string
  readonly type: (typeof paymentTypes)[number]
  readonly id: string
  readonly status: PaymentState
  /** By card it is what the merchant has collected, once it has collected something. */
  readonly amountCents: Cents
  /** Why it was rejected or returned, or what it waits for. */
  readonly reason: { readonly code: string; readonly message: string } | null
  readonly updatedAt: Date
}

/**
 * Finds the payments on these intents, newest first. The areas that pay lie to the right of the intents and may not be
 * imported there, so they register this function.
 */
export type FindPayments = (
  intentIds: readonly string[],
  tenant: Tenant,
  sql: Sql,
) => Promise<readonly IntentPayment[]>
