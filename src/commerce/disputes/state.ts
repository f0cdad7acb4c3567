import { stateMachine } from '../../kernel/contract/machine.ts'
import { type Cents, cents, minOf, NO_CENTS, remainderOf, subtractCents } from '../../values/money.ts'

/**
 * A card network may change its decision, and the last one counts. A decision can therefore turn, and a
 * withdrawn or lapsed dispute can still be won. A merchant that refunds in the meantime also wins it for the
 * owner.
 */
export const disputeMachine = stateMachine('dispute', {
  open: ['submitted', 'withdrawn', 'lapsed', 'won', 'lost'],
  submitted: ['won', 'lost', 'withdrawn'],
  won: ['lost', 'withdrawn', 'lapsed'],
  lost: ['won'],
  withdrawn: ['won'],
  lapsed: ['won'],
})
export type DisputeStatus = (typeof disputeMachine.states)[number]

export interface DisputeFact {
  /** The id of the message, or the name of the inquiry. Facts with the same id are one fact. */
  readonly id: string
  readonly type: 'credited' | 'won' | 'lost' | 'withdrawn' | 'lapsed'
  readonly at: string
  readonly cents: string | null
}

/** Uses the member names of the stored JSON (`disputes.words`). */
export type StoredDisputeFact = Omit<DisputeFact, 'type'> & { readonly says: DisputeFact['type'] }

export const addDisputeFact = (
  facts: readonly StoredDisputeFact[],
  { type, ...fact }: DisputeFact,
): readonly StoredDisputeFact[] =>
  facts.some(({ id }) => id === fact.id) ? facts : [...facts, { ...fact, says: type }]

export const decodeDisputeFacts = (stored: readonly StoredDisputeFact[]): DisputeFact[] =>
  stored.map(({ says: type, ...fact }) => ({ ...fact, type }))

export const isNetworkFact = ({ type }: DisputeFact): boolean => type !== 'withdrawn' && type !== 'lapsed'

export interface DisputeClaimState {
  readonly isSubmitted: boolean
  readonly leftCents: Cents
  readonly isCovered: boolean
  readonly isCreditDue: boolean
}

/** The platform advances what is neither recovered nor lost. */
export interface DisputeAmounts {
  readonly creditedCents: Cents
  readonly recoveredCents: Cents
  readonly lostCents: Cents
}

export interface DisputeState extends DisputeAmounts {
  readonly status: DisputeStatus
}

/** A decision sorts last among facts of the same instant. */
const ranks = { withdrawn: 0, lapsed: 0, credited: 1, won: 2, lost: 3 } as const

const byTime = (one: DisputeFact, other: DisputeFact): number =>
  Date.parse(one.at) - Date.parse(other.at) ||
  ranks[one.type] - ranks[other.type] ||
  (one.id < other.id ? -1 : 1)

/** Depends only on the set of facts, not on the order in which they arrived. */
export function foldDisputeFacts(unsorted: readonly DisputeFact[], claim: DisputeClaimState): DisputeState {
  const { leftCents, isCovered, isCreditDue } = claim
  const facts = unsorted.toSorted(byTime)
  const ending = facts.find(fact => !isNetworkFact(fact))
  const network = facts.filter(isNetworkFact)
  const status = statusOf(
    claim,
    ending,
    network.findLast(({ type }) => type !== 'credited'),
  )
  const recoveredCents = paidBy(network.at(-1), leftCents)
  const isEnded = status !== 'open' && status !== 'submitted'
  const isTakenBack = status === 'withdrawn' && facts.at(-1) === ending
  const isWhole = isCovered && status !== 'withdrawn' && (isEnded || isCreditDue)
  const creditedCents = isTakenBack ? NO_CENTS : isWhole ? leftCents : minOf(recoveredCents, leftCents)
  const lostCents = isEnded ? remainderOf(creditedCents, recoveredCents) : NO_CENTS
  return { status, creditedCents, recoveredCents, lostCents }
}

function statusOf(
  { isSubmitted, leftCents }: DisputeClaimState,
  ending: DisputeFact | undefined,
  decision: DisputeFact | undefined,
): DisputeStatus {
  if (ending) return decision?.type === 'won' ? 'won' : (ending.type as 'withdrawn' | 'lapsed')
  if (leftCents === 0n) return 'won'
  if (decision) return decision.type as 'won' | 'lost'
  return isSubmitted ? 'submitted' : 'open'
}

function paidBy(last: DisputeFact | undefined, leftCents: Cents): Cents {
  if (!last || last.type === 'lost') return NO_CENTS
  return last.cents === null ? leftCents : cents(last.cents)
}

export interface DisputeDiff {
  /** The amount that the platform advances or has lost. It pays that to the bank account, which covers all wallets. */
  readonly advanceCents: Cents
  readonly creditCents: Cents
  readonly recoverCents: Cents
  readonly loseCents: Cents
}

const advancedOf = ({ creditedCents, recoveredCents }: DisputeAmounts): Cents =>
  remainderOf(creditedCents, recoveredCents)

export const diffDisputeAmounts = (booked: DisputeAmounts, state: DisputeAmounts): DisputeDiff => ({
  advanceCents: subtractCents(advancedOf(state), advancedOf(booked)),
  creditCents: subtractCents(state.creditedCents, booked.creditedCents),
  recoverCents: subtractCents(state.recoveredCents, booked.recoveredCents),
  loseCents: subtractCents(state.lostCents, booked.lostCents),
})
