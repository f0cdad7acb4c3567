import type { Cents } from '../values/money.ts'

/**
 * The bank connection for SEPA payments; `adapters/sepa-rail` implements it. Every call ends within seconds,
 * with or without an answer.
 */
export interface SepaRail {
  /** Verification of payee: asks the account's bank whether the account belongs to this name. */
  verifyPayee(payee: SepaPayee, call: SepaRailCall): Promise<PayeeCheck | UnansweredRailCall>
  /** The rail rejects an instant payment that arrives after its `until`. */
  submit(payment: SepaPayment, call: SepaRailCall): Promise<SepaPaymentStatus | UnansweredRailCall>
  statusOf(payment: SepaPayment, call: SepaRailCall): Promise<SepaPaymentStatus | UnansweredRailCall>
  recall(payment: SepaPayment, call: SepaRailCall): Promise<SepaRecallStatus | UnansweredRailCall>
  /** The file for a payment of this instant. A rail without files takes payments at once. */
  nextFile(scheme: SepaScheme, at: Date): PaymentFileTime
  message(order: PaymentFileOrder): string
  /** When the bank’s report about a file that was handed over at this instant is late. Null where none is awaited. */
  reportDueAt(scheme: SepaScheme, handedOverAt: Date): Date | null
  readonly files: BankFileHandOver | null
}

export interface BankFileHandOver {
  /** Stores a message where the bank does not see it yet; may be repeated. */
  stage(name: string, message: string): Promise<void>
  /** Releases a stored message to the bank, once, even if the bank has already fetched and removed it. */
  release(name: string): Promise<void>
}

export interface SepaPayee {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

export const sepaSchemes = ['sct', 'sct_inst'] as const
export type SepaScheme = (typeof sepaSchemes)[number]

export interface OrderedPayment {
  readonly endToEndId: string
  readonly amountCents: Cents
  readonly payerIban: string | null
  readonly payee: SepaPayee
  readonly reference: string | null
}

export interface SepaPayment extends OrderedPayment {
  /** The owner of the payment. A rail that stores payments stores each with its owner. */
  readonly ownerId: string
  readonly scheme: SepaScheme
  readonly submittedAt: Date
  /** For an instant payment: the instant by which it must have arrived. */
  readonly until: Date | null
  readonly at: Date
}

export interface PaymentFileOrder {
  readonly messageId: string
  readonly madeAt: Date
  readonly executeOn: string
  readonly scheme: SepaScheme
  readonly payments: readonly OrderedPayment[]
}

export interface PaymentFileTime {
  readonly closesAt: Date
  readonly executeOn: string
}

/** The rail acts once per reference, however often the call is repeated. */
export interface SepaRailCall {
  readonly reference: string
  readonly requestId: string
}

export const payeeCheckResults = ['match', 'close_match', 'no_match', 'not_possible'] as const

export interface PayeeCheck {
  readonly result: (typeof payeeCheckResults)[number]
  readonly suggestedName: string | null
}

/** Reason codes are those of ISO 20022: see `src/iso20022/reason-codes.ts`. */
export interface SepaPaymentStatus {
  readonly status: 'pending' | 'settled' | 'rejected' | 'returned' | 'unknown'
  readonly reasonCode: string | null
}

export interface SepaRecallStatus {
  readonly status: 'pending' | 'accepted' | 'refused'
  readonly reasonCode: string | null
}

export type UnansweredRailCall = 'late' | 'unusable'

export const isUnansweredRailCall = <T extends object>(
  answer: T | UnansweredRailCall,
): answer is UnansweredRailCall => typeof answer === 'string'
