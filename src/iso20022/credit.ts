import type { Cents } from '../values/money.ts'

export const creditSources = ['bank', 'simulation', 'funding', 'acquirer', 'owner', 'refund'] as const

export const unmatchedCreditReasons = [
  'no_wallet',
  'several_references',
  'parts_do_not_sum',
  'wallet_closed',
] as const
export type UnmatchedCreditReason = (typeof unmatchedCreditReasons)[number]

export interface ReceivedCredit {
  readonly amountCents: Cents
  readonly source: (typeof creditSources)[number]
  /**
   * The scope in which a bank reference is unique: the account of the statement, the owner of the sandbox, or
   * `owners`.
   */
  readonly origin: string
  readonly bankReference: string
  readonly part: number
  readonly iban: string | null
  readonly reference: string | null
  readonly senderName: string | null
  readonly senderIban: string | null
  readonly endToEndId: string | null
  readonly valueDate: string
  /** Set if the credit must not be matched with a wallet. */
  readonly reason: UnmatchedCreditReason | null
}
