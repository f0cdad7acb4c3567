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
  charge(charge: AcquirerCharge & { readonly token: unknown }, call: AcquirerCall): Promise<ChargeOutcome>
  /** The state of a charge with this reference, for use after a crash, when the token is gone. */
  stateOf(charge: AcquirerCharge, call: AcquirerCall): Promise<ChargeOutcome>
  /** Repeated, it refunds nothing again and answers with the state of the refund. A `late` one may still end. */
  refund(
    refund: AcquirerChargeOrder & { readonly refundReference: string },
    call: AcquirerCall,
  ): Promise<ChargeOutcome>
  /** What has been returned of a charge so far: later answers only add to earlier ones. */
  returnsOf(charge: AcquirerChargeOrder, call: AcquirerCall): Promise<ChargeReturns | Unanswered>
  /**
   * What has been returned of all charges since then, and of each charge's owner, or null without an answer. Null for
   * an acquirer that only tells of a charge that it is asked about.
   */
  readonly returnsSince: ((since: Date) => Promise<readonly ListedReturn[] | null>) | null
  /** Null for an acquirer that has to be asked. */
  readonly notices: AcquirerNotices | null
}

export interface ChargeReturns {
  readonly refunds: readonly { readonly refundReference: string; readonly outcome: ChargeOutcome }[]
  readonly chargebacks: readonly Chargeback[]
}

/**
 * The payer's bank has taken the charge back; the acquirer may win a part or all of it again. Or someone has refunded
 * it at the acquirer, without this service; such a refund may fail. Both sums only grow.
 */
export interface Chargeback {
  readonly id: string
  readonly kind: 'chargeback' | 'refund'
  readonly reason: string
  readonly withdrawnCents: Cents
  readonly reinstatedCents: Cents
}

export type ListedReturn = ChargeOwner & { readonly reference: string } & (
    | { readonly chargeback: Chargeback }
    | { readonly refundReference: string; readonly outcome: 'approved' | 'declined' }
  )

/** Signed messages that there is news about a charge. The acquirer is then asked for it, so their order is irrelevant. */
export interface AcquirerNotices {
  /** Whether the headers look like those of this acquirer's notices. Proves nothing. */
  recognizes(headers: Readonly<Record<string, string | undefined>>): boolean
  read(
    body: Uint8Array,
    headers: Readonly<Record<string, string | undefined>>,
    now: Date,
  ): Promise<AcquirerNotice>
}

export type AcquirerNotice =
  | { readonly kind: 'unsigned'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'ignored' }
  /** Which charge it is about is not known now, so it must be sent again. */
  | { readonly kind: 'unanswered' }
  | (ChargeOwner & {
      readonly kind: 'notice'
      readonly about: 'charge' | 'returns'
      readonly reference: string
    })

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

interface ChargeOwner {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
}

/** The owner is stored with the charge, so that notices about it find the owner. */
export type AcquirerCharge = AcquirerChargeOrder & ChargeOwner

export interface AcquirerCall {
  readonly requestId: string
  readonly now: Date
}

/** `late`: no answer in time. `unusable`: an answer that cannot be read. Both leave the outcome unknown. */
export type ChargeOutcome =
  | { readonly outcome: 'approved' }
  | { readonly outcome: 'declined'; readonly code: string; readonly reason: string }
  | Unanswered

interface Unanswered {
  readonly outcome: 'late' | 'unusable'
}
