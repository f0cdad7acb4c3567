import type { Cents } from '../values/money.ts'

export const paymentNoticeKinds = ['settled', 'rejected', 'returned', 'payee_checked'] as const
export type PaymentNoticeKind = (typeof paymentNoticeKinds)[number]

export interface ReportedPayeeCheck {
  readonly result: 'match' | 'close_match' | 'no_match' | 'not_possible'
  readonly suggestedName: string | null
  readonly code: string
}

export interface ReportedStatus {
  /** As the bank writes it; null in a camt message, which has none. */
  readonly status: string | null
  readonly notice: PaymentNoticeKind | null
  readonly reasonCode: string | null
  readonly payeeCheck: ReportedPayeeCheck | null
}

export interface PaymentNotice extends ReportedStatus {
  readonly endToEndId: string | null
  /** Null in a pain.002, which gives no amounts. */
  readonly amountCents: Cents | null
  /** Missing in a pain.002, which does not say it. */
  readonly isInstant?: boolean
}
