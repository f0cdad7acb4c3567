import type { Cents } from '../values/money.ts'
import type { SepaRailCall } from './sepa-rail.ts'

/** The payment processor that charges owners' cards and bank accounts, which it knows by tokens. */
export interface FundingRail {
  readonly name: 'sandbox' | 'stripe'
  /** Makes a page of the processor, at which a person enters a card or bank account of this owner. */
  setUp(setup: InstrumentSetup, call: SepaRailCall): Promise<InstrumentPage | ProcessorRefusal | 'silent'>
  instrumentOf(token: string, call: InstrumentCall): Promise<FundingInstrument | MissingInstrument>
  /** The processor cannot charge it again. May be repeated. */
  forget(token: string, call: SepaRailCall): Promise<'forgotten' | 'silent'>
  /** Erases the payer that was made for it, with what the person entered. Its charges stay. May be repeated. */
  erase(token: string, call: SepaRailCall): Promise<'erased' | 'silent'>
  /** Charges once per reference, however often the call is repeated. */
  charge(charge: FundingCharge, call: FundingCall): Promise<ChargeState>
  stateOf(charge: FundingCharge, call: FundingCall & { readonly now: Date }): Promise<ChargeState>
  /** Charges that payers' banks have taken back since, or given again; null if the processor does not answer. */
  returnsSince(since: Date): Promise<readonly ChargeReturn[] | null>
  /** Whether the headers look like those of this processor's notices. Proves nothing. */
  recognizes(headers: FundingNoticeHeaders): boolean
  /** Verifies the signature over the raw bytes, then finds the charge whose state may have changed. */
  read(body: Uint8Array, headers: FundingNoticeHeaders, now: Date): Promise<ParsedFundingNotice>
}

export const instrumentKinds = ['card', 'sepa_debit'] as const

export interface InstrumentSetup {
  readonly ownerId: string
  /** The page of the console to which the person returns; the processor appends the token. */
  readonly returnUrl: string
}

export interface InstrumentPage {
  readonly url: string
  /** Names the card or bank account once the person has entered it. */
  readonly token: string
  readonly expiresAt: Date
}

interface ProcessorRefusal {
  readonly refused: string
}

export interface InstrumentCall extends SepaRailCall {
  readonly ownerId: string
}

export interface FundingInstrument {
  readonly kind: (typeof instrumentKinds)[number]
  readonly brand: string | null
  readonly last4: string
  /** By which it is charged. Differs from the token of a page. */
  readonly token: string
}

/** `incomplete`: the person has not finished the page. */
export type MissingInstrument = 'unknown' | 'incomplete' | 'silent'

export interface FundingCharge {
  readonly token: string
  readonly amountCents: Cents
  readonly madeAt: Date
}

export interface FundingCall extends SepaRailCall {
  /** Where a person returns who has taken the step that the charge required. */
  readonly returnUrl: string
}

export interface ChargeNextAction {
  readonly type: 'redirect'
  readonly url: string
}

export interface ChargeFailureReason {
  readonly code: string
  readonly message: string
}

export type ChargeState =
  | { readonly status: 'settled' }
  | { readonly status: 'failed'; readonly reason: ChargeFailureReason }
  | { readonly status: 'pending'; readonly askAgainAt: Date }
  | { readonly status: 'requires_action'; readonly nextAction: ChargeNextAction; readonly askAgainAt: Date }
  /** The processor has no such charge. */
  | { readonly status: 'unknown' }
  /** The processor has not said: the charge may have been made. */
  | { readonly status: 'silent' }
  /** It had settled, and was taken back, in part or whole. */
  | (ReturnedSums & { readonly status: 'returned'; readonly reason: ChargeFailureReason })

/** All that was ever taken of a charge, and all of that which was given again. Both only grow. */
export interface ReturnedSums {
  readonly takenCents: Cents
  readonly givenCents: Cents
}

export interface ChargeReturn extends ReturnedSums {
  readonly reference: string
}

export type FundingNoticeHeaders = Readonly<Record<string, string | undefined>>

export type ParsedFundingNotice =
  | { readonly kind: 'notice'; readonly reference: string }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unsigned'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** The processor was asked which charge it is about, and did not answer: the notice must come again. */
  | { readonly kind: 'unanswered' }
