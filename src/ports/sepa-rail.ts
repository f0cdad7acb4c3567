import type { Cents } from '../values/money.ts'

/**
 * The bank connection for SEPA payments; `adapters/sepa-rail` implements it. Every call ends within seconds,
 * with or without an answer.
 */
export interface SepaRail {
  /** Verification of payee: asks the account's bank whether the account belongs to this name. */
  verifyPayee(payee: Payee, call: RailCall): Promise<PayeeCheck | Unanswered>
  /** The rail rejects an instant payment that arrives after its `until`. */
  submit(payment: Payment, call: RailCall): Promise<PaymentStatus | Unanswered>
  statusOf(payment: Payment, call: RailCall): Promise<PaymentStatus | Unanswered>
  recall(payment: Payment, call: RailCall): Promise<RecallStatus | Unanswered>
  /** The file for a payment of this instant. A rail without files takes payments at once. */
  nextFile(scheme: Scheme, at: Date): FileTime
  message(order: Order): string
  readonly files: HandOver | null
}

export interface HandOver {
  /** Stores a message where the bank does not see it yet; may be repeated. */
  stage(name: string, message: string): Promise<void>
  /** Releases a stored message to the bank, once, even if the bank has already fetched and removed it. */
  release(name: string): Promise<void>
}

export interface Payee {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

export const schemes = ['sct', 'sct_inst'] as const
export type Scheme = (typeof schemes)[number]

export interface Ordered {
  readonly endToEndId: string
  readonly amountCents: Cents
  readonly payerIban: string | null
  readonly payee: Payee
  readonly reference: string | null
}

export interface Payment extends Ordered {
  /** The owner of the payment. A rail that stores payments stores each with its owner. */
  readonly ownerId: string
  readonly scheme: Scheme
  readonly submittedAt: Date
  /** For an instant payment: the instant by which it must have arrived. */
  readonly until: Date | null
  readonly at: Date
}

export interface Order {
  readonly messageId: string
  readonly madeAt: Date
  readonly executeOn: string
  readonly scheme: Scheme
  readonly payments: readonly Ordered[]
}

export interface FileTime {
  readonly closesAt: Date
  readonly executeOn: string
}

/** The rail acts once per reference, however often the call is repeated. */
export interface RailCall {
  readonly reference: string
  readonly requestId: string
}

export const payeeResults = ['match', 'close_match', 'no_match', 'not_possible'] as const

export interface PayeeCheck {
  readonly result: (typeof payeeResults)[number]
  readonly suggestedName: string | null
}

/** Reason codes are those of ISO 20022: see `src/iso20022/reason-codes.ts`. */
export interface PaymentStatus {
  readonly status: 'pending' | 'settled' | 'rejected' | 'returned' | 'unknown'
  readonly reasonCode: string | null
}

export interface RecallStatus {
  readonly status: 'pending' | 'accepted' | 'refused'
  readonly reasonCode: string | null
}

export type Unanswered = 'late' | 'unusable'

export const isUnanswered = <T extends object>(answer: T | Unanswered): answer is Unanswered =>
  typeof answer === 'string'
