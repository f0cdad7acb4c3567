import type { Cents } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { Mode, Tenant } from './actor.ts'
import type { Sql } from './sql.ts'

const payableStates = ['open', 'paid', 'expired', 'cancelled', 'refunded'] as const

/** A record that asks for money, as an intent names it: a payment request, which may be another owner's. */
export interface PayableRecord {
  readonly id: string
  readonly ownerId: string
  readonly walletId: string
  readonly amountCents: Cents
  readonly payee: string
  /** Uses its owner's clock: an overdue one is `expired`, even before its end is recorded. */
  readonly status: (typeof payableStates)[number]
  readonly expiresAt: Date
}

/**
 * Finds records that ask for money, of any owner; an unknown id is left out. `lockedFor` locks those of that
 * tenant until the transaction ends, so that nothing else pays or ends them meanwhile. The areas with such
 * records come after the intents in the import order, so they register this function.
 */
export type FindPayables = (
  ids: readonly string[],
  mode: Mode,
  sql: Sql,
  lockedFor?: Tenant,
) => Promise<readonly PayableRecord[]>

export const intentPaymentStates = [
  'created',
  'verifying',
  'submitted',
  'completed',
  'rejected',
  'cancelled',
  'returned',
] as const

export const intentPaymentTypes = ['transfer', 'card', 'mpp'] as const

export type IntentPaymentState = (typeof intentPaymentStates)[number]

export interface IntentPayment {
  readonly intentId: string
  readonly type: (typeof intentPaymentTypes)[number]
  readonly id: string
  readonly status: IntentPaymentState
  /** For a card: the collected amount, once the merchant has collected any. */
  readonly amountCents: Cents
  /** The payee's amount in its currency; null for euros. */
  readonly original: OriginalAmount | null
  readonly reason: { readonly code: string; readonly message: string } | null
  readonly updatedAt: Date
}

/**
 * Finds the payments on these intents, newest first. The areas that pay come after the intents in the import
 * order, so they register this function.
 */
export type FindIntentPayments = (
  intentIds: readonly string[],
  tenant: Tenant,
  sql: Sql,
) => Promise<readonly IntentPayment[]>
