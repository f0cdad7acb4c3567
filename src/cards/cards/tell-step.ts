import type { Mode } from '../../kernel/contract/actor.ts'
import { externalCall } from '../../kernel/contract/operation.ts'
import {
  type CardProcessor,
  type Done,
  isFailure,
  type NumberState,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import type { CardNumber } from './card.ts'
import { isToBeTold, schedule, wantedState } from './due.ts'
import { cardEvent } from './events.ts'
import { type LockedNumbers, lockNumbers } from './lock-card.ts'
import {
  callOf,
  controlsFrom,
  type ProcessorRequest,
  problemOf,
  requestFor,
  type StoredControls,
  storedControls,
} from './processor-request.ts'
import { ACTED, answered, lockForCall, NOTHING, type StepContext } from './processor-step.ts'
import { freezeCard } from './states.ts'
import { stepsApi } from './steps-api.ts'

/** What the processor is told of one number; null = what it knows already. */
interface Instruction extends ProcessorRequest {
  readonly numberId: string
  readonly processorCardId: string
  readonly state: { readonly wanted: NumberState; readonly reference: string } | null
  readonly controls: { readonly version: number; readonly values: StoredControls } | null
}

type Reply = Done | ProcessorFailure

interface Replies {
  readonly state: Reply | null
  readonly controls: Reply | null
}

/** Tells of one number at a time, the one in use first, so that a call ends within seconds. */
export const tellStep = externalCall(stepsApi.tell, {
  async reserve({ params }, context) {
    const locked = await lockForCall(params.id, 'tell', context)
    const number = locked?.numbers.find(one => isToBeTold(locked, one))
    return locked && number ? instructionFor(number, locked, context) : null
  },
  async call(instruction, { ports, requestId }): Promise<Replies | null> {
    return instruction && carryOut(instruction, ports.cardProcessor(instruction.mode), requestId)
  },
  async record(replies, instruction, context) {
    if (!replies || !instruction) return NOTHING
    const locked = await lockNumbers(instruction.cardId, context)
    if (!locked) return NOTHING
    recordReplies(locked, instruction, replies, context)
    return ACTED
  },
  // Its process tells the processor again.
  recover: async () => NOTHING,
})

/** Each state that the processor is told of has a reference of its own, which a repetition has too. */
function instructionFor(
  number: CardNumber,
  { card, terms }: LockedNumbers,
  context: { readonly now: Date; readonly tenant: { readonly mode: Mode } },
): Instruction {
  const wanted = wantedState(card, number)
  const tellsState = number.toldState !== null || number.processorState !== wanted
  if (tellsState && number.toldState !== wanted) {
    number.toldState = wanted
    number.toldCount++
  }
  const tellsControls = wanted !== 'closed' && number.controlsVersion !== terms.version
  return {
    ...requestFor(card, context),
    numberId: number.id,
    processorCardId: number.processorCardId,
    state: tellsState ? { wanted, reference: `${number.id}-state-${number.toldCount}` } : null,
    controls: tellsControls ? { version: terms.version, values: storedControls(terms) } : null,
  }
}

async function carryOut(instruction: Instruction, processor: CardProcessor, requestId: string) {
  const { numberId, processorCardId, state, controls } = instruction
  const call = (reference: string) => callOf(instruction, reference, { requestId })
  const told = state && (await processor.setState(processorCardId, state.wanted, call(state.reference)))
  // A processor that does not answer is not asked for more.
  if (!controls || (told && isUnsettled(told))) return { state: told, controls: null }
  const reference = `${numberId}-controls-${controls.version}`
  const values = controlsFrom(controls.values)
  return { state: told, controls: await processor.setControls(processorCardId, values, call(reference)) }
}

const isUnsettled = (reply: Reply): boolean => isFailure(reply) && reply.failure !== 'refused'

function recordReplies(
  locked: LockedNumbers,
  { numberId, state, controls }: Instruction,
  replies: Replies,
  context: StepContext,
): void {
  const { card } = locked
  const number = locked.numbers.find(({ id }) => id === numberId)
  if (!number) return
  const failures = [replies.state, replies.controls].filter(reply => reply !== null && isFailure(reply))
  if (state && replies.state && !isUnsettled(replies.state)) recordState(number, state.wanted, replies.state)
  if (controls && replies.controls && !isUnsettled(replies.controls))
    number.controlsVersion = controls.version
  for (const failure of failures) {
    card.processorProblem = problemOf(failure)
    if (failure.failure === 'refused')
      context.emit('card.processor_refused', cardEvent(card, card.processorProblem))
  }
  if (failures.some(isUnsettled)) {
    schedule(locked, context.now)
    return
  }
  if (failures.length === 0) card.processorProblem = null
  if (state?.wanted === 'active' && replies.state && isFailure(replies.state))
    freezeCard(locked, 'processor_refused', context)
  answered(locked, context)
}

/** A refused state is not asked for again: a number that was not to be active stays as it was, a closed one is left alone. */
function recordState(number: CardNumber, wanted: NumberState, reply: Reply): void {
  number.toldState = null
  if (!isFailure(reply) || wanted !== 'active') number.processorState = wanted
}
