import type { Euros } from '../../values/money.ts'
import type { Tenant } from './actor.ts'
import type { Sql } from './sql.ts'

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
  readonly amountEuros: Euros
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
