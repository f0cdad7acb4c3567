/** The bank through which SEPA is reached, as the business sees it. What it is made of lies in `adapters/sepa-rail`. */
export interface SepaRail {
  /** Asks the bank of an account whether it belongs to somebody of this name (verification of payee). */
  verifyPayee(payee: Payee, call: RailCall): Promise<PayeeCheck | Unanswered>
}

export interface Payee {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

/** The same reference is the same call: however often it arrives, the rail acts on it once. */
export interface RailCall {
  readonly reference: string
  readonly requestId: string
}

export const payeeResults = ['match', 'close_match', 'no_match', 'not_possible'] as const

export interface PayeeCheck {
  readonly result: (typeof payeeResults)[number]
  /** The name that the account is in, where it is close to the one that was asked about. */
  readonly suggestedName: string | null
}

/** It has not answered in time, or what it answered cannot be used. */
export type Unanswered = 'late' | 'unusable'

export const isUnanswered = (answer: PayeeCheck | Unanswered): answer is Unanswered =>
  typeof answer === 'string'
