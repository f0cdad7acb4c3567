import { externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import { type IssuedCard, isFailure, type ProcessorFailure } from '../../ports/card-processor.ts'
import { after, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type cardsApi, stepsApi } from './api.ts'
import { cardEvent, numberMachine } from './card.ts'
import { cardResponse, type LockedNumbers, lockCard, lockNumbers } from './card-with-terms.ts'
import { unchangeableReason } from './controls.ts'
import { schedule, wakeCardProcess } from './due.ts'
import { addNumber } from './issue.ts'
import {
  ACTED,
  afterAnswer,
  callOf,
  lockForCall,
  NOT_ACTED,
  NOT_DUE,
  type NumberRequest,
  newCardOf,
  numberRequestFor,
  problemOf,
  type StepContext,
} from './processor-calls.ts'
import { closeCard } from './states.ts'

/**
 * Reserves the id of the next number, which is the reference of the call: however often it is repeated, there
 * is one number.
 */
export const rotate: HandlerOf<typeof cardsApi.rotate> = async ({ params, body }, context) => {
  const { tenant, now, ports, emit, refuse } = context
  const locked = await lockCard(params.id, context)
  if (!locked) return refuse('card_not_found')
  const refusal = unchangeableReason(locked)
  if (refusal) return refuse(refusal)
  // Throws before anything is reserved if this mode has no processor.
  ports.cardProcessor(tenant.mode)
  const { card } = locked
  if (card.nextNumberId) return refuse('rotation_under_way')
  const { overlapMinutes } = body
  Object.assign(card, { nextNumberId: newId('cardnumber'), nextNumberAt: now, overlapMinutes })
  emit('card.rotation_started', cardEvent(card))
  wakeCardProcess(card, context)
  return cardResponse(locked, context)
}

export const replaceStep = externalCall(stepsApi.replace, {
  async reserve({ params }, context) {
    const locked = await lockForCall(params.id, 'replace', context)
    if (!locked) return NOT_DUE
    const { card } = locked
    const { nextNumberId, nextNumberAt } = card
    const current = locked.numbers.find(({ id }) => id === card.numberId)
    if (!nextNumberId || !nextNumberAt || !current)
      throw new Error('a rotation has the id of its next number')
    const asked = { reference: nextNumberId, requestedAt: nextNumberAt }
    const request = await numberRequestFor(locked, asked, context)
    return { request, processorCardId: current.processorCardId }
  },
  call({ request, processorCardId }, { ports, requestId }) {
    const call = callOf(request, request.reference, { requestId })
    return ports.cardProcessor(request.mode).replace(processorCardId, newCardOf(request), call)
  },
  async record(answer, { request }, context) {
    await recordReplaced(answer, request, context)
    return ACTED
  },
  // Its process asks again: under the same reference there is one number.
  recover: async () => NOT_ACTED,
})

const noNextNumber = { nextNumberId: null, nextNumberAt: null, overlapMinutes: null }

async function recordReplaced(
  answer: IssuedCard | ProcessorFailure,
  { cardId, reference }: NumberRequest,
  context: StepContext,
): Promise<void> {
  const locked = await lockNumbers(cardId, context)
  if (locked?.card.nextNumberId !== reference) return
  const { card, numbers } = locked
  if (isFailure(answer) && answer.failure !== 'refused') {
    card.processorProblem = problemOf(answer)
    schedule(locked, context.now)
    return
  }
  const { overlapMinutes } = card
  Object.assign(card, noNextNumber)
  if (isFailure(answer)) {
    card.processorProblem = problemOf(answer)
    context.emit('card.processor_refused', cardEvent(card, card.processorProblem))
    // The processor closed the current number while the rotation was pending. The rotation has failed, so the
    // card has no number.
    const current = numbers.find(({ id }) => id === card.numberId)
    if (current?.processorState === 'closed') closeCard(locked, 'closed_by_processor', context)
    afterAnswer(locked, context)
    return
  }
  retire(locked, overlapMinutes ?? 0, context.now)
  const number = addNumber(locked, answer, reference, context)
  context.emit('card.rotated', cardEvent(card))
  afterAnswer({ ...locked, numbers: [number, ...numbers] }, context)
}

/** The old number keeps paying for the overlap, and not at all if it is replaced at once or its card is closed. */
function retire({ card, numbers }: LockedNumbers, overlapMinutes: number, now: Date): void {
  const current = numbers.find(({ id }) => id === card.numberId)
  if (!current) return
  const overlaps = overlapMinutes > 0 && card.status !== 'closed'
  numberMachine.move(current, overlaps ? 'retiring' : 'replaced')
  if (!overlaps) return
  const until = after(now, minutes(overlapMinutes))
  current.retiresAt = until < current.endsAt ? until : current.endsAt
}
