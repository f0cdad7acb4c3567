import type { Euros } from '../values/money.ts'

/** The outcomes of a payment of ours that a bank's file can report. */
export const noticeKinds = ['settled', 'rejected', 'returned'] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** A bank's report of one payment; `notice` is null if the payment is still under way. */
export interface PaymentNotice {
  readonly endToEndId: string | null
  readonly notice: NoticeKind | null
  readonly reasonCode: string | null
  /** Null in a pain.002, which gives no amounts. */
  readonly amountEuros: Euros | null
}
