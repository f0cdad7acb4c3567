import type { Euros } from '../values/money.ts'

export const creditSources = ['bank', 'simulation', 'funding'] as const

/** Why it is in no wallet. */
export const unmatchedReasons = [
  'no_wallet',
  'several_references',
  'parts_do_not_sum',
  'wallet_closed',
] as const
export type UnmatchedReason = (typeof unmatchedReasons)[number]

/** Money as it has arrived; with a reason where no wallet is to be looked for. */
export interface ReceivedCredit {
  readonly amountEuros: Euros
  readonly source: (typeof creditSources)[number]
  /** Within it a bank reference is one booking: the account of the statement, or the owner of the sandbox. */
  readonly origin: string
  readonly bankReference: string
  readonly part: number
  readonly iban: string | null
  readonly reference: string | null
  readonly senderName: string | null
  readonly senderIban: string | null
  readonly endToEndId: string | null
  readonly valueDate: string
  readonly reason: UnmatchedReason | null
}
