import type { Cents } from '../values/money.ts'

/**
 * Charges payers' cards for the owners of this installation; `adapters/acquirer` implements it. Every call
 * ends within seconds, with or without an answer. Each reference is charged once, however often the call is
 * repeated.
 */
export interface Acquirer {
  readonly name: string
  /** The networks whose tokens it charges; empty for an acquirer without network tokens. */
  readonly networks: readonly string[]
  /** Null for an acquirer that charges no shared payment tokens. */
  readonly sharedTokens: SharedTokenAcceptance | null
  /**
   * Reads a decrypted token without a call. The handle identifies the payment's card to the acquirer: it may
   * be stored, contains no number and no cryptogram, and authorizes nothing by itself.
   */
  accept(token: unknown): AcceptedToken | RefusedToken
  /** `late` and `unusable` leave the outcome unknown: `stateOf` finds it out. */
  charge(
    charge: AcquirerChargeOrder & { readonly token: unknown },
    call: AcquirerCall,
  ): Promise<ChargeOutcome>
  /** The state of a charge with this reference, for use after a crash, when the token is gone. */
  stateOf(charge: AcquirerChargeOrder, call: AcquirerCall): Promise<ChargeOutcome>
  refund(
    refund: AcquirerChargeOrder & { readonly refundReference: string },
    call: AcquirerCall,
  ): Promise<ChargeOutcome>
}

/** What a challenge of the method `stripe` names. Smaller amounts are not offered. */
export interface SharedTokenAcceptance {
  /** The Stripe profile that tokens must be granted to. */
  readonly networkId: string
  readonly paymentMethodTypes: readonly string[]
  readonly leastCents: Cents
  /** Reads a token without a call, as `accept` does. */
  accept(spt: string): AcceptedToken | RefusedToken
}

export interface AcceptedToken {
  readonly handle: string
  readonly network: string
  /** Null if only the charge shows it. */
  readonly last4: string | null
}

export interface RefusedToken {
  readonly refused: string
}

export interface AcquirerChargeOrder {
  readonly handle: string
  readonly amountCents: Cents
  readonly reference: string
  readonly descriptor: string
}

export interface AcquirerCall {
  readonly requestId: string
  readonly now: Date
}

/** `late`: no answer in time. `unusable`: an answer that cannot be read. Both leave the outcome unknown. */
export type ChargeOutcome =
  | { readonly outcome: 'approved' }
  | { readonly outcome: 'declined'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'late' | 'unusable' }
