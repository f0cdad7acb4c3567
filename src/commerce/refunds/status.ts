import type { Refund } from '../../money/refunds/index.ts'
import { minuteInWords } from '../../values/clock.ts'
import { formatEuros } from '../../values/money.ts'
import type { RefundSignal } from './process.ts'

/** The status of a refund as its process reads it: who was paid is not told to Temporal. */
export function processStatusOf(refund: Refund, now: Date) {
  const { status, mode, amountEuros, arrivedEuros, dueAt } = refund
  const closed = status !== 'pending'
  const until = dueAt ? `, until ${minuteInWords(dueAt)}` : ''
  const part = arrivedEuros > 0n && !closed ? `, ${formatEuros(arrivedEuros)} have come` : ''
  const signals: RefundSignal[] = closed ? [] : ['cancel']
  return {
    status,
    summary: `Refund of ${formatEuros(amountEuros)} in ${mode} mode: ${status}${part}`,
    closed,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : `for the money of the merchant${until}`,
    signals,
  }
}
