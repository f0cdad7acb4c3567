import type { Cents } from '../values/money.ts'
import type { RailCall } from './sepa-rail.ts'

/** The payment processor that charges owners' cards and bank accounts, which it knows by tokens. */
export interface FundingRail {
  instrumentOf(token: string, call: RailCall): Promise<Instrument | NoInstrument>
  /** Charges once per reference, however often the call is repeated. */
  charge(charge: Charge, call: RailCall): Promise<ChargeState>
  stateOf(charge: Charge, call: RailCall & { readonly now: Date }): Promise<ChargeState>
}

export const instrumentKinds = ['card', 'sepa_debit'] as const

export interface Instrument {
  readonly kind: (typeof instrumentKinds)[number]
  readonly brand: string | null
  readonly last4: string
}

export type NoInstrument = 'unknown' | 'silent'

export interface Charge {
  readonly token: string
  readonly amountCents: Cents
  readonly madeAt: Date
}

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
  | { readonly status: 'unknown' }
