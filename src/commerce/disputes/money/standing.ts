import type { Euros } from '../../../values/money.ts'
import type { DisputeStatus } from '../states.ts'

/** What somebody has said of a dispute: the network by three words, the owner or the deadline by two. */
export interface Word {
  /** The id of the message, or the name of the inquiry: the same one comes in once. */
  readonly id: string
  readonly says: 'credited' | 'won' | 'lost' | 'withdrawn' | 'lapsed'
  readonly at: string
  /** What the network has paid, in cents; null = all that is disputed, or nothing. */
  readonly cents: string | null
}

/** All that the standing of a dispute depends on. */
export interface Facts {
  readonly words: readonly Word[]
  readonly isSubmitted: boolean
  /** What is disputed and the merchant has not refunded. */
  readonly leftEuros: Euros
  /** Whether the platform bears what the network does not pay. */
  readonly isCovered: boolean
  /** Whether the owner is due the money before anything is decided. */
  readonly isCreditDue: boolean
}

/** Where the money of a dispute is. What is neither recovered nor lost is laid out by the platform. */
export interface Money {
  readonly creditedEuros: Euros
  readonly recoveredEuros: Euros
  readonly lostEuros: Euros
}

export interface Standing extends Money {
  readonly status: DisputeStatus
}

const own = new Set<Word['says']>(['withdrawn', 'lapsed'])
const decisions = new Set<Word['says']>(['won', 'lost'])
/** Of words of one instant a decision is the last. */
const ranks = { withdrawn: 0, lapsed: 0, credited: 1, won: 2, lost: 3 } as const

const byTime = (one: Word, other: Word): number =>
  Date.parse(one.at) - Date.parse(other.at) ||
  ranks[one.says] - ranks[other.says] ||
  (one.id < other.id ? -1 : 1)

const smaller = (one: Euros, other: Euros): Euros => (one < other ? one : other)

/** The one reading of the facts: it depends on the set of words, not on the order in which they came. */
export function standingOf(facts: Facts): Standing {
  const { leftEuros } = facts
  const words = [...facts.words].sort(byTime)
  const ownWord = words.find(({ says }) => own.has(says))
  const network = words.filter(({ says }) => !own.has(says))
  const lastOfNetwork = network.at(-1)
  const decision = network.findLast(({ says }) => decisions.has(says))
  const status = statusOf(facts, ownWord, decision)
  const recoveredEuros = paidBy(lastOfNetwork, leftEuros)
  const isEnded = status !== 'open' && status !== 'submitted'
  const isTakenBack = status === 'withdrawn' && words.at(-1) === ownWord
  const isWhole = facts.isCovered && status !== 'withdrawn' && (isEnded || facts.isCreditDue)
  const creditedEuros = isTakenBack ? 0n : isWhole ? leftEuros : smaller(recoveredEuros, leftEuros)
  const unpaid = creditedEuros - recoveredEuros
  return { status, creditedEuros, recoveredEuros, lostEuros: isEnded && unpaid > 0n ? unpaid : 0n }
}

/** A merchant that has refunded all of it has ended the dispute as the owner wished. */
function statusOf(
  { isSubmitted, leftEuros }: Facts,
  ownWord: Word | undefined,
  decision: Word | undefined,
): DisputeStatus {
  if (ownWord) return decision?.says === 'won' ? 'won' : (ownWord.says as 'withdrawn' | 'lapsed')
  if (leftEuros === 0n) return 'won'
  if (decision) return decision.says as 'won' | 'lost'
  return isSubmitted ? 'submitted' : 'open'
}

function paidBy(word: Word | undefined, leftEuros: Euros): Euros {
  if (!word || word.says === 'lost') return 0n
  return word.cents === null ? leftEuros : BigInt(word.cents)
}

/** Adds a word unless one of its id is known: a message that comes twice is one word. */
export const withWord = (words: readonly Word[], word: Word): readonly Word[] =>
  words.some(({ id }) => id === word.id) ? words : [...words, word]
