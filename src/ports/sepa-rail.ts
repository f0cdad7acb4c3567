import type { Euros } from '../values/money.ts'

/**
 * The bank through which SEPA is reached, as the business sees it. What it is made of lies in `adapters/sepa-rail`.
 * Each call ends within some seconds, with an answer or without one.
 */
export interface SepaRail {
  /** Asks the bank of an account whether it belongs to somebody of this name (verification of payee). */
  verifyPayee(payee: Payee, call: RailCall): Promise<PayeeCheck | Unanswered>
  /** Pays. An instant payment that reaches the rail after its `until` is rejected by it. */
  submit(payment: Payment, call: RailCall): Promise<PaymentStatus | Unanswered>
  /** How a payment stands that may have been submitted under this reference; `unknown`: it never was. */
  statusOf(payment: Payment, call: RailCall): Promise<PaymentStatus | Unanswered>
  /** Asks for a payment back; asked again, it tells what has become of that. */
  recall(payment: Payment, call: RailCall): Promise<RecallStatus | Unanswered>
  /** Into which file a payment of this instant goes. A rail that is called, not sent files, has it at once. */
  nextFile(scheme: Scheme, at: Date): FileTime
  /** The message of ISO 20022 that orders these payments. */
  message(order: Order): string
  /** How messages get to the bank; null where it is called and sent no files. */
  readonly files: HandOver | null
}

export interface HandOver {
  /** Lays a message down, where the bank does not see it yet; again, it is the same one. */
  stage(name: string, message: string): Promise<void>
  /** Lets the bank have what is laid down. What it has been given is not given again, even if it has taken it away. */
  release(name: string): Promise<void>
}

export interface Payee {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

export const schemes = ['sct', 'sct_inst'] as const
export type Scheme = (typeof schemes)[number]

/** One of an order. Everything in it is spelled in the characters of SEPA. */
export interface Ordered {
  readonly endToEndId: string
  readonly amountEuros: Euros
  readonly payerIban: string | null
  readonly payee: Payee
  readonly reference: string | null
}

export interface Payment extends Ordered {
  readonly scheme: Scheme
  readonly submittedAt: Date
  /** Of an instant payment: until when it must have arrived. */
  readonly until: Date | null
  /** The payer's time now: a rail that only pretends goes by it. */
  readonly at: Date
}

/** Payments that are ordered together: of one scheme, on one day. */
export interface Order {
  readonly messageId: string
  readonly madeAt: Date
  readonly executeOn: string
  readonly scheme: Scheme
  readonly payments: readonly Ordered[]
}

export interface FileTime {
  /** Until when it takes more. */
  readonly closesAt: Date
  /** The day on which its payments are to be carried out. */
  readonly executeOn: string
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

/** Reason codes are those of ISO 20022: see `src/iso20022/reason-codes.ts`. */
export interface PaymentStatus {
  readonly status: 'pending' | 'settled' | 'rejected' | 'returned' | 'unknown'
  readonly reasonCode: string | null
}

export interface RecallStatus {
  readonly status: 'pending' | 'accepted' | 'refused'
  readonly reasonCode: string | null
}

/** It has not answered in time, or what it answered cannot be used. */
export type Unanswered = 'late' | 'unusable'

export const isUnanswered = <T extends object>(answer: T | Unanswered): answer is Unanswered =>
  typeof answer === 'string'
