import { CardTerms, type cardStatuses } from '../../control/card-terms/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { minuteInWords } from '../../values/clock.ts'
import { Card, CardNumber, closedReasons } from './card.ts'
import { nextStep, type Step } from './due.ts'
import type { CardSignal } from './process.ts'
import type { stepsApi } from './steps-api.ts'

/** One line for the operator who looks at the run; it stays in Temporal, which is told no names and no digits. */
function summaryOf({ usage, mode, status, closedReason, processorProblem }: Card): string {
  const head = `Card for ${usage} use in ${mode} mode: ${status}`
  if (processorProblem && status !== 'closed') return `${head}, and the processor has a problem with it`
  // The words of an owner are for the record.
  const reason = closedReasons.find(known => known === closedReason)
  return reason ? `${head} (${reason.replaceAll('_', ' ')})` : head
}

const WAITS: Readonly<Record<Step, string>> = {
  issue: 'for the processor to issue it',
  replace: 'for the processor to give it another number',
  tell: 'for the processor to take note of its state',
  return: 'for what its purse has to go back',
  end: 'for its end or a change',
}

/** Completes "it waits" for the operator. */
function waitsFor(step: Step, at: Date, now: Date): string {
  if (at <= now) return WAITS[step]
  const asked = step === 'end' ? 'at the latest' : 'which is tried again'
  return `${WAITS[step]}, ${asked} at ${minuteInWords(at)}`
}

type Status = (typeof cardStatuses)[number]

/** The signals that change a card of this status. */
const SIGNALS: Readonly<Record<Status, CardSignal[]>> = {
  pending: ['close'],
  inactive: ['close'],
  active: ['freeze', 'close'],
  frozen: ['unfreeze', 'close'],
  closed: [],
}

const signalsOf = ({ status }: { readonly status: Status }): CardSignal[] => SIGNALS[status]

export const status: HandlerOf<typeof stepsApi.status> = async ({ params }, { records, now, refuse }) => {
  const [card, terms, numbers] = await Promise.all([
    records.findOne(Card, { id: params.id }),
    records.findOne(CardTerms, { id: params.id }),
    records.find(CardNumber, { cardId: params.id }),
  ])
  if (!card || !terms) return refuse('card_not_found')
  const next = nextStep({ card, terms, numbers }, now)
  return {
    status: card.status,
    summary: summaryOf(card),
    closed: next === null,
    dueInMs: next && next.at.getTime() - now.getTime(),
    waitsFor: next && waitsFor(next.step, next.at, now),
    signals: next ? signalsOf(card) : [],
    next: next?.step ?? null,
  }
}
