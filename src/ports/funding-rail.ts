import type { Cents } from '../values/money.ts'
import type { SepaRailCall } from './sepa-rail.ts'

/** The payment processor that charges owners' cards and bank accounts, which it knows by tokens. */
export interface FundingRail {
  instrumentOf(token: string, call: SepaRailCall): Promise<FundingInstrument | MissingInstrument>
  /** Charges once per reference, however often the call is repeated. */
  charge(charge: FundingCharge, call: SepaRailCall): Promise<ChargeState>
  stateOf(charge: FundingCharge, call: SepaRailCall & { readonly now: Date }): Promise<ChargeState>
}

export const instrumentKinds = ['card', 'sepa_debit'] as const

export interface FundingInstrument {
  readonly kind: (typeof instrumentKinds)[number]
  readonly brand: string | null
  readonly last4: string
}

export type MissingInstrument = 'unknown' | 'silent'

export interface FundingCharge {
  readonly token: string
  readonly amountCents: Cents
  readonly madeAt: Date
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
  | { readonly status: 'unknown' }
