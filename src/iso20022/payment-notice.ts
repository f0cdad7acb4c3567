import type { Euros } from '../values/money.ts'

/** What a bank's files tell of payments of ours. */
export const ownNotices = ['settled', 'rejected', 'returned'] as const
export type OwnNotice = (typeof ownNotices)[number]

/** One thing that is said of a payment; no notice where it says that it is on its way. */
export interface Said {
  readonly endToEndId: string | null
  readonly notice: OwnNotice | null
  readonly reasonCode: string | null
  /** Null in a report of statuses, which names none. */
  readonly amountEuros: Euros | null
}
