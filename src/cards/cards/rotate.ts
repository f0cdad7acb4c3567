import type { WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import {
  type CardProcessor,
  type IssuedCard,
  isProcessorFailure,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import type { cardSteps, cardsApi } from './api.ts'
import { cardEvent, cardNumberMachine } from './card.ts'
import { cardResponse, type LockedCardNumbers, lockCard, lockCardNumbers } from './card-with-terms.ts'
import { cardChangeBlocker } from './controls.ts'
import { scheduleCardStep, wakeCardProcess } from './due.ts'
import { addCardNumber } from './issue.ts'
import {
  type CardNumberRequest,
  cardNumberRequestFor,
  clearProcessorCall,
  lockForProcessorCall,
  newProcessorCard,
  processorCallFor,
  processorProblemText,
} from './processor-calls.ts'
import { closeCard } from './states.ts'

/**
 * Reserves the id of the next number, which is the reference of the call: however often it is repeated, there
 * is one number.
 */
export const rotateCardNumber: HandlerOf<typeof cardsApi.rotate> = async ({ params, body }, context) => {
  const { tenant, now, systems, emit, refuse } = context
  const locked = await lockCard(params.id, context)
  if (!locked) return refuse('card_not_found')
  const refusal = cardChangeBlocker(locked)
  if (refusal) return refuse(refusal)
  // Throws before anything is reserved if this mode has no processor.
  systems.cardProcessor(tenant.mode)
  const { card } = locked
  if (card.nextNumberId) return refuse('rotation_under_way')
  const { overlapMinutes } = body
  Object.assign(card, { nextNumberId: newId('cardnumber'), nextNumberAt: now, overlapMinutes })
  emit('card.rotation_started', cardEvent(card))
  wakeCardProcess(card, context)
  return cardResponse(locked, context)
}

interface Replacement {
  readonly request: CardNumberRequest
  /** The current number at the processor. */
  readonly processorCardId: string
}

/** Undefined if the call is not due. */
export async function reserveReplacement(
  cardId: string,
  context: WriteContext,
): Promise<Replacement | undefined> {
  const locked = await lockForProcessorCall(cardId, 'replace', context)
  if (!locked) return undefined
  const { card } = locked
  const { nextNumberId, nextNumberAt } = card
  const current = locked.numbers.find(({ id }) => id === card.numberId)
  if (!nextNumberId || !nextNumberAt || !current) throw new Error('a rotation has the id of its next number')
  const asked = { reference: nextNumberId, requestedAt: nextNumberAt }
  const request = await cardNumberRequestFor(locked, asked, context)
  return { request, processorCardId: current.processorCardId }
}

export const requestReplacement = ({ request, processorCardId }: Replacement, processor: CardProcessor) =>
  processor.replace(processorCardId, newProcessorCard(request), processorCallFor(request, request.reference))

const noNextNumber = { nextNumberId: null, nextNumberAt: null, overlapMinutes: null }

/** A repeated answer changes nothing: the rotation has ended. */
export async function recordReplacement(
  answer: IssuedCard | ProcessorFailure,
  { request: { cardId, reference } }: Replacement,
  context: WriteContext<(typeof cardSteps.replace)['emits']>,
): Promise<void> {
  const locked = await lockCardNumbers(cardId, context)
  if (locked?.card.nextNumberId !== reference) return
  const { card, numbers } = locked
  if (isProcessorFailure(answer) && answer.failure !== 'refused') {
    card.processorProblem = processorProblemText(answer)
    scheduleCardStep(locked, context.now)
    return
  }
  const { overlapMinutes } = card
  Object.assign(card, noNextNumber)
  if (isProcessorFailure(answer)) {
    card.processorProblem = processorProblemText(answer)
    context.emit('card.processor_refused', cardEvent(card, card.processorProblem))
    // The processor closed the current number while the rotation was pending. The rotation has failed, so the
    // card has no number.
    const current = numbers.find(({ id }) => id === card.numberId)
    if (current?.processorState === 'closed') closeCard(locked, 'closed_by_processor', context)
    clearProcessorCall(locked, context)
    return
  }
  retire(locked, overlapMinutes ?? 0, context.now)
  const number = addCardNumber(locked, answer, reference, context)
  context.emit('card.rotated', cardEvent(card))
  clearProcessorCall({ ...locked, numbers: [number, ...numbers] }, context)
}

/** The old number keeps paying for the overlap, and not at all if it is replaced at once or its card is closed. */
function retire({ card, numbers }: LockedCardNumbers, overlapMinutes: number, now: Date): void {
  const current = numbers.find(({ id }) => id === card.numberId)
  if (!current) return
  const overlaps = overlapMinutes > 0 && card.status !== 'closed'
  cardNumberMachine.move(current, overlaps ? 'retiring' : 'replaced')
  if (!overlaps) return
  const until = addMs(now, minutes(overlapMinutes))
  current.retiresAt = until < current.endsAt ? until : current.endsAt
}
