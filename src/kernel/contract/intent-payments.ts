import type { Tenant } from './actor.ts'
import type { Sql } from './sql.ts'

/** How a payment on an intent can stand, by whatever means it is paid. */
export const paymentStates = [
  'created',
  'verifying',
  'submitted',
  'completed',
  'rejected',
  'cancelled',
  'returned',
] as const

export type PaymentState = (typeof paymentStates)[number]

/** A payment on an intent as the area has it that makes it. */
export interface IntentPayment {
  readonly intentId: string
  readonly type: 'transfer'
  readonly id: string
  readonly status: PaymentState
  /** Why it came to nothing or came back, or what it waits for. */
  readonly reason: { readonly code: string; readonly message: string } | null
  readonly updatedAt: Date
}

/**
 * Tells the payments on these intents, the newest first. What pays lies to the right of the intents: so do they show
 * what has become of a payment, and no area asks one to its right.
 */
export type FindPayments = (
  intentIds: readonly string[],
  tenant: Tenant,
  sql: Sql,
) => Promise<readonly IntentPayment[]>
