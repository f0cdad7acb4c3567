import type Stripe from 'stripe'

/** The account at Stripe that issues the cards. */
export interface StripeAccount {
  readonly secretKey: string
  /** The signing secrets of the endpoints that Stripe calls: of real-time authorizations, and of all other events. */
  readonly webhookSecrets: readonly string[]
  /** Another address than Stripe's own, for tests. */
  readonly apiUrl?: string | undefined
}

/** The version in which requests, answers and events are written: the one that the package knows. */
export const API_VERSION = '2026-10-28.endive' satisfies NonNullable<Stripe.StripeConfig['apiVersion']>

/** How long Stripe may take for one request, its body included, and for all requests of one call. */
export interface Patience {
  readonly requestMs: number
  readonly callMs: number
}

export const PATIENCE: Patience = { requestMs: 4_000, callMs: 6_000 }
