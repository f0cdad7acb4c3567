import type { CallerContext, Context, WriteContext } from '../../kernel/contract/context.ts'
import {
  type CardNotice,
  type CardNumberState,
  type CardProcessor,
  isProcessorFailure,
  type ProcessorCallDone,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { truncateText } from '../../values/schemas.ts'
import { cardEvents, type cardSteps } from './api.ts'
import { type CardNumber, cardEvent } from './card.ts'
import { type LockedCardNumbers, lockCardNumbers } from './card-with-terms.ts'
import { needsProcessorSync, requiredProcessorState, scheduleCardStep, wakeCardProcess } from './due.ts'
import {
  type CardProcessorRequest,
  cardProcessorRequest,
  clearProcessorCall,
  lockForProcessorCall,
  processorCallFor,
  processorControlsFrom,
  processorProblemText,
  type StoredCardControls,
  storedControls,
} from './processor-calls.ts'
import { closeCard, freezeCard } from './states.ts'

interface Instruction extends CardProcessorRequest {
  readonly numberId: string
  readonly processorCardId: string
  readonly state: { readonly wanted: CardNumberState; readonly reference: string } | null
  readonly controls: { readonly version: number; readonly values: StoredCardControls } | null
}

type Reply = ProcessorCallDone | ProcessorFailure

interface Replies {
  readonly state: Reply | null
  readonly controls: Reply | null
}

/**
 * The state and the controls to send for one number, the number in use first. A call is about one number, so that it ends
 * within seconds. Undefined if the call is not due.
 */
export async function reserveInstruction(
  cardId: string,
  context: WriteContext,
): Promise<Instruction | undefined> {
  const locked = await lockForProcessorCall(cardId, 'tell', context)
  const number = locked?.numbers.find(one => needsProcessorSync(locked, one))
  return locked && number ? instructionFor(number, locked, context) : undefined
}

/** Each requested state has its own reference, which repetitions reuse. */
function instructionFor(
  number: CardNumber,
  { card, terms }: LockedCardNumbers,
  context: CallerContext,
): Instruction {
  const wanted = requiredProcessorState(card, number)
  const sendsState = number.requestedState !== null || number.processorState !== wanted
  if (sendsState && number.requestedState !== wanted) {
    number.requestedState = wanted
    number.requestSeq++
  }
  const sendsControls = wanted !== 'closed' && number.controlsVersion !== terms.version
  return {
    ...cardProcessorRequest(card, context),
    numberId: number.id,
    processorCardId: number.processorCardId,
    state: sendsState ? { wanted, reference: `${number.id}-state-${number.requestSeq}` } : null,
    controls: sendsControls ? { version: terms.version, values: storedControls(terms) } : null,
  }
}

export async function sendInstruction(instruction: Instruction, processor: CardProcessor): Promise<Replies> {
  const { numberId, processorCardId, state, controls } = instruction
  const call = (reference: string) => processorCallFor(instruction, reference)
  const stateReply = state && (await processor.setState(processorCardId, state.wanted, call(state.reference)))
  if (!controls || (stateReply && isUnsettled(stateReply))) return { state: stateReply, controls: null }
  const reference = `${numberId}-controls-${controls.version}`
  const values = processorControlsFrom(controls.values)
  const reply = await processor.setControls(processorCardId, values, call(reference))
  return { state: stateReply, controls: reply }
}

const isUnsettled = (reply: Reply): boolean => isProcessorFailure(reply) && reply.failure !== 'refused'

export async function recordReplies(
  replies: Replies,
  { cardId, numberId, state, controls }: Instruction,
  context: WriteContext<(typeof cardSteps.tell)['emits']>,
): Promise<void> {
  const locked = await lockCardNumbers(cardId, context)
  if (!locked) return
  const { card } = locked
  const number = locked.numbers.find(({ id }) => id === numberId)
  if (!number) return
  const failures = [replies.state, replies.controls].filter(
    reply => reply !== null && isProcessorFailure(reply),
  )
  if (state && replies.state && !isUnsettled(replies.state)) recordState(number, state.wanted, replies.state)
  if (controls && replies.controls && !isUnsettled(replies.controls))
    number.controlsVersion = controls.version
  for (const failure of failures) {
    card.processorProblem = processorProblemText(failure)
    if (failure.failure === 'refused')
      context.emit('card.processor_refused', cardEvent(card, card.processorProblem))
  }
  if (failures.some(isUnsettled)) {
    scheduleCardStep(locked, context.now)
    return
  }
  if (failures.length === 0) card.processorProblem = null
  if (state?.wanted === 'active' && replies.state && isProcessorFailure(replies.state))
    freezeCard(locked, 'processor_refused', context)
  clearProcessorCall(locked, context)
}

/**
 * A refused state is not requested again. A refused activation leaves the number inactive and its card is
 * frozen; any other refusal counts as done.
 */
function recordState(number: CardNumber, wanted: CardNumberState, reply: Reply): void {
  number.requestedState = null
  if (!isProcessorFailure(reply) || wanted !== 'active') number.processorState = wanted
}

export const cardNoticeEvents = {
  'card.closed': cardEvents['card.closed'],
  'card.shipped': cardEvents['card.shipped'],
  'mobile_wallet.updated': cardEvents['mobile_wallet.updated'],
}

type Noticing = Context<never, typeof cardNoticeEvents>

/** A repeated notice changes nothing. Locks the agent first, so the caller must hold no lock that comes after it. */
export async function applyCardNotice(
  { id, cardId }: Pick<CardNumber, 'id' | 'cardId'>,
  notice: CardNotice,
  context: Noticing,
): Promise<void> {
  const locked = await lockCardNumbers(cardId, context)
  if (!locked) return
  const { card } = locked
  if (notice.kind === 'number_closed') return closeNumber(id, notice.reason, locked, context)
  if (notice.kind === 'shipped') {
    const [carrier, trackingNumber] = [notice.carrier, notice.trackingNumber].map(
      text => text && truncateText(text),
    )
    context.emit('card.shipped', {
      ...cardEvent(card),
      carrier: carrier ?? null,
      trackingNumber: trackingNumber ?? null,
    })
    return
  }
  const { tokenId, wallet, status } = notice
  const { agentId, last4 } = card
  context.emit('mobile_wallet.updated', {
    cardId,
    agentId,
    status,
    last4,
    wallet,
    tokenId: truncateText(tokenId),
  })
}

/** The processor closed a number by itself: it is never active again. Without the number in use, the card is closed. */
function closeNumber(numberId: string, reason: string, locked: LockedCardNumbers, context: Noticing): void {
  const { card, numbers } = locked
  const number = numbers.find(({ id }) => id === numberId)
  if (!number || number.processorState === 'closed') return
  Object.assign(number, { processorState: 'closed', requestedState: null })
  if (numberId !== card.numberId || card.nextNumberId !== null) {
    wakeCardProcess(card, context)
    return
  }
  card.processorProblem = truncateText(reason)
  closeCard(locked, 'closed_by_processor', context)
}
