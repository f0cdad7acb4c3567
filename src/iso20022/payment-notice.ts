import type { Euros } from '../values/money.ts'

/** What a bank's files tell of payments of ours. */
export const noticeKinds = ['settled', 'rejected', 'returned'] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** One thing that is said of a payment; no notice where it says that it is on its way. */
export interface PaymentNotice {
  readonly endToEndId: string | null
  readonly notice: NoticeKind | null
  readonly reasonCode: string | null
  /** Null in a report of statuses, which names none. */
  readonly amountEuros: Euros | null
}
