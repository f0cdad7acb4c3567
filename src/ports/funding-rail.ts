import type { Euros } from '../values/money.ts'
import type { RailCall } from './sepa-rail.ts'

/** The processor that draws money from owners' cards and accounts, as the business sees it: it knows them by tokens. */
export interface FundingRail {
  /** What a token stands for. */
  instrumentOf(token: string, call: RailCall): Promise<Instrument | NoInstrument>
  /** The same reference is the same charge: however often it arrives, money is drawn once. */
  charge(charge: Charge, call: RailCall): Promise<ChargeState>
  /** What has become of a charge at this instant. Draws nothing. */
  stateOf(charge: Charge, call: RailCall & { readonly now: Date }): Promise<ChargeState>
}

export const instrumentKinds = ['card', 'sepa_debit'] as const

export interface Instrument {
  readonly kind: (typeof instrumentKinds)[number]
  /** Of a card: `visa`. */
  readonly brand: string | null
  readonly last4: string
}

/** It knows no such token, or has not answered. */
export type NoInstrument = 'unknown' | 'silent'

export interface Charge {
  readonly token: string
  readonly amountEuros: Euros
  /** When it was asked for, in the tenant's time. */
  readonly madeAt: Date
}

/** What the payer has to do before the money comes. */
export interface NextAction {
  readonly type: 'redirect'
  readonly url: string
}

export interface FailureReason {
  readonly code: string
  readonly message: string
}

export type ChargeState =
  | { readonly status: 'settled' }
  | { readonly status: 'failed'; readonly reason: FailureReason }
  | { readonly status: 'pending'; readonly askAgainAt: Date }
  | { readonly status: 'requires_action'; readonly nextAction: NextAction; readonly askAgainAt: Date }
  /** It has not answered, or has never heard of the charge. */
  | { readonly status: 'unknown' }
