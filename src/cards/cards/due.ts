import type { CardTerms } from '../../control/card-terms/index.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { CardNumberState } from '../../ports/card-processor.ts'
import { addMs, backoffDelay, minutes } from '../../values/clock.ts'
import type { Card, CardNumber } from './card.ts'
import { cardProcess } from './process.ts'

interface CardState {
  readonly card: Card
  readonly terms: Pick<CardTerms, 'version'>
  readonly numbers: readonly CardNumber[]
}

/** `issue`, `replace` and `tell` call the processor; `end` closes what has expired; `return` empties the purse. */
type CardStep = 'issue' | 'replace' | 'tell' | 'return' | 'end'

/** Longer than any call of the processor takes, so that no two are under way for one card. */
const FIRST_PAUSE_MS = 20_000
const LONGEST_PAUSE_MS = minutes(30)

const pauseAfter = (attempts: number): number => backoffDelay(FIRST_PAUSE_MS, attempts - 1, LONGEST_PAUSE_MS)

export function requiredProcessorState(
  card: Pick<Card, 'status'>,
  { status }: Pick<CardNumber, 'status'>,
): CardNumberState {
  if (card.status === 'closed' || status === 'replaced') return 'closed'
  return card.status === 'active' ? 'active' : 'inactive'
}

export function needsProcessorSync({ card, terms }: Omit<CardState, 'numbers'>, number: CardNumber): boolean {
  if (number.processorState === 'closed') return false
  const wanted = requiredProcessorState(card, number)
  const isInDoubt = number.requestedState !== null || number.processorState !== wanted
  return isInDoubt || number.controlsVersion !== terms.version
}

export function pendingProcessorCall(state: CardState): 'issue' | 'replace' | 'tell' | null {
  const { card, numbers } = state
  // The card was closed during the issue call, and the processor may still have issued a number.
  if (card.numberId === null) return card.status === 'pending' || card.callDueAt !== null ? 'issue' : null
  if (card.nextNumberId !== null) return 'replace'
  return numbers.some(number => needsProcessorSync(state, number)) ? 'tell' : null
}

function endDates({ card, numbers }: CardState): Date[] {
  const retiring = numbers.filter(({ status }) => status === 'retiring').map(({ retiresAt }) => retiresAt)
  const current = numbers.find(({ id }) => id === card.numberId)
  return [...retiring, current?.endsAt, card.spentAt].filter(at => at instanceof Date)
}

interface NextStep {
  readonly step: CardStep
  readonly at: Date
}

export function nextCardStep(state: CardState, now: Date): NextStep | null {
  const { card } = state
  const call = pendingProcessorCall(state)
  const steps: NextStep[] = call ? [{ step: call, at: card.callDueAt ?? now }] : []
  if (card.status !== 'closed') steps.push(...endDates(state).map(at => ({ step: 'end' as const, at })))
  else if (card.purseDueAt) steps.unshift({ step: 'return', at: card.purseDueAt })
  return steps.reduce<NextStep | null>((first, next) => (first && first.at <= next.at ? first : next), null)
}

export function scheduleCardStep(state: CardState, now: Date): void {
  const next = nextCardStep(state, now)
  state.card.dueAt = next && (next.at > now ? next.at : now)
}

/** No other call is made until the answer of this call is recorded. */
export function beginProcessorCall(card: Card, now: Date): void {
  card.attempts++
  card.callDueAt = addMs(now, pauseAfter(card.attempts))
  card.dueAt = card.callDueAt
}

export const isProcessorCallDue = ({ callDueAt }: Card, now: Date): boolean =>
  callDueAt === null || callDueAt <= now

/** Wakes the card's process. A processor that did not answer is tried again soon. */
export function wakeCardProcess(card: Card, { now, wake }: EmitContext): void {
  const again = addMs(now, FIRST_PAUSE_MS)
  if (card.callDueAt && card.callDueAt > again) Object.assign(card, { attempts: 1, callDueAt: again })
  const soon = card.callDueAt ?? now
  card.dueAt = card.dueAt && card.dueAt < soon ? card.dueAt : soon
  wake(cardProcess, card)
}
