import type { Cents } from '../values/money.ts'

/**
 * The acquirer that charges the cards of others for what our owners are owed; `adapters/acquirer` implements it. Every
 * call ends within seconds, with an answer or without. What is charged is charged once per reference, however often the
 * call is repeated.
 */
export interface Acquirer {
  readonly name: string
  /** The card networks whose tokens it takes, in the protocol's words. */
  readonly networks: readonly string[]
  /**
   * Reads a decrypted token without asking anybody. The handle names the payment's card to the acquirer: it may be
   * stored, has no number and no cryptogram in it, and pays nothing by itself.
   */
  accept(token: unknown): AcceptedToken | RefusedToken
  /** Charges the token. `late` and `unusable` leave the outcome open: `stateOf` finds it out. */
  charge(charge: Charge & { readonly token: unknown }, call: AcquirerCall): Promise<ChargeOutcome>
  /** How a charge stands that was begun under this reference: for after a crash, when nobody has the token any more. */
  stateOf(charge: Charge, call: AcquirerCall): Promise<ChargeOutcome>
  /** Gives back a part of a charge, once per `refundReference`. */
  refund(refund: Charge & { readonly refundReference: string }, call: AcquirerCall): Promise<ChargeOutcome>
}

export interface AcceptedToken {
  readonly handle: string
  readonly network: string
  readonly last4: string
}

/** A sentence that says what is wrong, without a word of the token. */
export interface RefusedToken {
  readonly refused: string
}

export interface Charge {
  readonly handle: string
  readonly amountCents: Cents
  /** The acquirer charges once under it. */
  readonly reference: string
  /** The line on the payer's statement: who is paid. */
  readonly descriptor: string
}

export interface AcquirerCall {
  readonly requestId: string
  /** The tenant's present time, by which the simulator goes. */
  readonly now: Date
}

/** `late`: no answer in time. `unusable`: an answer that cannot be read. Both leave the outcome open. */
export type ChargeOutcome =
  | { readonly outcome: 'approved' }
  | { readonly outcome: 'declined'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'late' | 'unusable' }
