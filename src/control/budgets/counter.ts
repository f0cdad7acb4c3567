import type { Row } from '../../kernel/contract/sql.ts'
import type { PostingCause } from '../../money/ledger/index.ts'
import { addCents, type Cents } from '../../values/money.ts'

/** The use of limits by one subject (agent, run, delegation, token, card, mandate or owner) in one period. */
export interface BudgetCounter extends Row {
  readonly subject: string
  readonly period: string
  reserved: Cents
  spent: Cents
  reservedUses: number
  uses: number
  term: Date | null
  lastSpendAt: Date | null
  firstMerchant: string | null
  /** The owner's budget of the day or month; null on every other counter. */
  readonly limit: Cents | null
  /** The stored terms of the counter's mandate; null on every other counter. */
  readonly mandate: object | null
}

/**
 * The amounts reserved and spent for one cause. They count on the day of the reservation, whenever the
 * payment is made.
 */
export interface BudgetReservation extends Row {
  readonly type: string
  readonly id: string
  readonly subjects: readonly string[]
  readonly day: string
  readonly term: Date | null
  readonly amount: Cents
  reserved: Cents
  spent: Cents
  /** True once it has been paid. It then stays a use, even if it is fully refunded. */
  made: boolean
}

export const counterPeriods = (day: string): string[] => ['all', `day:${day}`, `month:${day.slice(0, -3)}`]

export const causeKey = ({ type, id }: PostingCause): string => `${type}/${id}`

export const usedCents = ({ reserved, spent }: BudgetCounter): Cents => addCents(reserved, spent)

type UseState = 'none' | 'reserved' | 'made'

/** A reservation is one use, however often it is captured. Until the first payment it is an open use. */
export const reservationUseState = ({
  reserved,
  made,
}: Pick<BudgetReservation, 'reserved' | 'made'>): UseState => {
  if (made) return 'made'
  return reserved > 0n ? 'reserved' : 'none'
}

/** The numbers never fall below zero: once a new term has begun, an earlier use can no longer be subtracted. */
export function updateUseCounts(counter: BudgetCounter, before: UseState, after: UseState): void {
  const change = (state: UseState): number => Number(after === state) - Number(before === state)
  counter.reservedUses = Math.max(counter.reservedUses + change('reserved'), 0)
  counter.uses = Math.max(counter.uses + change('made'), 0)
}

export const NO_COUNTER_TERM = new Date(0)

/** A mandate counts its uses for its whole life, even if the agent's policy changes. */
export const counterTerm = (subject: string, term: Date | null): Date | null =>
  subject.startsWith('mandate_') && !isSameTerm({ term: NO_COUNTER_TERM }, term) ? null : term

export const isSameTerm = ({ term }: Pick<BudgetCounter, 'term'>, other: Date | null): boolean =>
  term?.getTime() === other?.getTime()
