import type { Cents } from '../values/money.ts'

/** What a bank's file can report of a payment of ours: how it ended, or how the payee was verified. */
export const noticeKinds = ['settled', 'rejected', 'returned', 'payee_checked'] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** The answer of the payee's bank about name and IBAN, under its status of ISO 20022. */
export interface ReportedPayeeCheck {
  readonly result: 'match' | 'close_match' | 'no_match' | 'not_possible'
  /** The account holder's name, given where it is close to the name asked about. */
  readonly suggestedName: string | null
  readonly code: string
}

/** What a status of a bank's report says; `notice` is null if nothing changes by it. */
export interface ReportedStatus {
  /** As the bank writes it; null in a camt message, which has none. */
  readonly status: string | null
  readonly notice: NoticeKind | null
  readonly reasonCode: string | null
  readonly payeeCheck: ReportedPayeeCheck | null
}

/** A bank's report of one payment. */
export interface PaymentNotice extends ReportedStatus {
  readonly endToEndId: string | null
  /** Null in a pain.002, which gives no amounts. */
  readonly amountCents: Cents | null
}
