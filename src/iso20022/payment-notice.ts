import type { Euros } from '../values/money.ts'

/** What a bank's files report of payments of ours. */
export const ownNotices = ['settled', 'rejected', 'returned'] as const
export type OwnNotice = (typeof ownNotices)[number]

/** What a bank's message reports of one payment. */
export interface ReportedPayment {
  readonly endToEndId: string | null
  /** Null if the payment is on its way still. */
  readonly notice: OwnNotice | null
  readonly reasonCode: string | null
  /** Null in a status report: it names no amounts. */
  readonly amountEuros: Euros | null
}
