import type { Refund } from '../../money/refunds/index.ts'
import { minuteInWords } from '../../values/clock.ts'
import { formatEuros } from '../../values/money.ts'
import type { RefundSignal } from './process.ts'

const FOR_PROCESSOR = 'for the processor of the card to ask the merchant, then for the money'

/** The status of a refund as its process reads it: who was paid is not told to Temporal. */
export function processStatusOf(refund: Refund, now: Date) {
  const { status, mode, amountEuros, arrivedEuros, dueAt, askDueAt } = refund
  const closed = status !== 'pending'
  const until = dueAt ? `, until ${minuteInWords(dueAt)}` : ''
  const part = arrivedEuros > 0n && !closed ? `, ${formatEuros(arrivedEuros)} have come` : ''
  const isAsked = askDueAt !== null && dueAt !== null && askDueAt < dueAt
  const nextAt = isAsked ? askDueAt : dueAt
  const signals: RefundSignal[] = closed ? [] : ['cancel']
  return {
    status,
    summary: `Refund of ${formatEuros(amountEuros)} in ${mode} mode: ${status}${part}`,
    closed,
    dueInMs: closed || !nextAt ? null : nextAt.getTime() - now.getTime(),
    waitsFor: closed ? null : `${isAsked ? FOR_PROCESSOR : 'for the money of the merchant'}${until}`,
    signals,
    next: closed || !nextAt ? null : isAsked ? ('ask' as const) : ('give up' as const),
  }
}
