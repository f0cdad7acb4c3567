import type { Context } from '../../kernel/contract/context.ts'
import { externalCall } from '../../kernel/contract/operation.ts'
import { type IssuedCard, isFailure, type ProcessorFailure } from '../../ports/card-processor.ts'
import { newId } from '../../values/ids.ts'
import { schedule } from './due.ts'
import { cardEvent } from './events.ts'
import { addNumber } from './issue.ts'
import { type LockedNumbers, lockNumbers } from './lock-card.ts'
import {
  callOf,
  holderOf,
  type NumberRequest,
  newCardOf,
  numberRequestFor,
  problemOf,
} from './processor-request.ts'
import { ACTED, answered, lockForCall, NOTHING } from './processor-step.ts'
import type { cardEvents } from './schemas.ts'
import { closeCard, move } from './states.ts'
import { stepsApi } from './steps-api.ts'

export const issueStep = externalCall(stepsApi.issue, {
  async reserve({ params }, context) {
    const locked = await lockForCall(params.id, 'issue', context)
    if (!locked) return null
    const { card, terms } = locked
    const asked = { reference: card.id, requestedAt: card.createdAt }
    return numberRequestFor(card, terms, await holderOf(context), asked, context)
  },
  call: async (request, { ports, requestId }) =>
    request &&
    ports
      .cardProcessor(request.mode)
      .issue(newCardOf(request), callOf(request, request.reference, { requestId })),
  async record(answer, request, context) {
    if (!answer || !request) return NOTHING
    await recordIssued(answer, request, context)
    return ACTED
  },
  // Its process asks again: by the same reference there is one card.
  recover: async () => NOTHING,
})

type Recording = Pick<
  Context<never, Pick<typeof cardEvents, 'card.issued' | 'card.activated' | 'card.closed'>>,
  'records' | 'tenant' | 'now' | 'emit' | 'wake'
>

/** Records what the processor has answered to the request for a card; the first answer counts. */
export async function recordIssued(
  answer: IssuedCard | ProcessorFailure,
  { cardId }: NumberRequest,
  context: Recording,
): Promise<LockedNumbers> {
  const locked = await lockNumbers(cardId, context)
  if (!locked) throw new Error('a card that was asked for is recorded')
  const { card, numbers } = locked
  if (card.numberId !== null) return locked
  if (isFailure(answer)) {
    card.processorProblem = problemOf(answer)
    if (answer.failure === 'refused') refuseCard(locked, context)
    else schedule(locked, context.now)
    return locked
  }
  const number = addNumber(locked, answer, newId('cardnumber'), context)
  const isOpen = move(locked, card.activates ? 'active' : 'inactive')
  context.emit('card.issued', cardEvent(card))
  if (isOpen && card.activates) context.emit('card.activated', cardEvent(card))
  const issued = { ...locked, numbers: [number, ...numbers] }
  answered(issued, context)
  return issued
}

/** A card that the processor does not issue is closed; nothing is left to do for it. */
function refuseCard(locked: LockedNumbers, context: Recording): void {
  closeCard(locked, 'processor_refused', context)
  answered(locked, context)
}
