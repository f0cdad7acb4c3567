import { minuteInWords } from '../../values/clock.ts'
import { type CardRequest, cardRequestMachine } from './card-request.ts'
import type { CardRequestSignal } from './process.ts'

/** The request in the line of its run: Temporal keeps it, so it names nobody. */
export const aboutRequest = ({ type, cardId }: CardRequest): string =>
  type === 'new_card' ? 'a new card' : `limits of ${cardId}`

const summaryOf = (request: CardRequest): string => {
  const { mode, status, expiresAt } = request
  const waits = status === 'pending' ? `waits for approval until ${minuteInWords(expiresAt)}` : status
  return `Card request for ${aboutRequest(request)} in ${mode} mode: ${waits}`
}

/** Whether what was approved is still to be done. */
export const isToBeCarriedOut = ({ status, dueAt }: CardRequest): boolean =>
  status === 'approved' && dueAt !== null

/** Completes the sentence "The process waits …" for operators. */
function waitsFor(request: CardRequest): string {
  const { status, type, expiresAt } = request
  if (status === 'pending') return `for a person’s approval, until ${minuteInWords(expiresAt)}`
  if (!isToBeCarriedOut(request)) return 'for the processor to issue the card'
  return type === 'new_card' ? 'for the card to be asked of the processor' : 'for the limits to change'
}

const signals: readonly CardRequestSignal[] = ['approve', 'deny', 'cancel']

function dueInMs(request: CardRequest, now: Date): number | null {
  if (request.status === 'pending') return request.expiresAt.getTime() - now.getTime()
  return isToBeCarriedOut(request) ? 0 : null
}

/** The status of a request as its process reads it. */
export function processStatusOf(request: CardRequest, now: Date) {
  const { status } = request
  const closed = cardRequestMachine.isFinal(status)
  return {
    status,
    summary: summaryOf(request),
    closed,
    dueInMs: closed ? null : dueInMs(request, now),
    waitsFor: closed ? null : waitsFor(request),
    signals: status === 'pending' ? [...signals] : [],
  }
}
