import { lockAgent } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import { assignCardToIntent, lockIntent, notPayableByCardReason } from '../../control/intents/index.ts'
import type { CardControls } from '../../control/rules/index.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import {
  type CardProcessor,
  type IssuedCard,
  isProcessorFailure,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { newId } from '../../values/ids.ts'
import type { Cents } from '../../values/money.ts'
import { Card, CardNumber, cardEvent } from './card.ts'
import {
  type CardContext,
  type LockedCard,
  type LockedCardNumbers,
  lockCardNumbers,
} from './card-with-terms.ts'
import { beginProcessorCall, scheduleCardStep, wakeCardProcess } from './due.ts'
import { cardProcess } from './process.ts'
import {
  type CardNumberRequest,
  cardNumberRequestFor,
  clearProcessorCall,
  lockForProcessorCall,
  newProcessorCard,
  processorCallFor,
  processorProblemText,
} from './processor-calls.ts'
import { closeCard, moveCardStatus } from './states.ts'

export interface CardLimits {
  readonly maxTransactionCents: Cents | null
  readonly dailyLimitCents: Cents | null
  readonly monthlyLimitCents: Cents | null
}

interface CardMembers {
  readonly agentId: string
  readonly usage: Card['usage']
  readonly displayName?: string | undefined
  readonly limits: CardLimits
  readonly controls: Omit<CardControls, 'maxTransactionCents'>
  readonly activate: boolean
  readonly intentId: string | null
  readonly requestId?: string
  readonly metadata: Record<string, string>
}

export type IssueBlocker = Exclude<Awaited<ReturnType<typeof reserveCard>>, LockedCard>

/**
 * Records a card and leaves its issuing to the process: for callers that do not wait for the processor.
 * Returns the code of the refusal if no such card is possible.
 */
export async function issueCard(
  members: CardMembers,
  context: CardContext<'card.created'>,
): Promise<LockedCard | IssueBlocker> {
  const reserved = await reserveCard(members, context)
  if (typeof reserved !== 'string') wakeCardProcess(reserved.card, context)
  return reserved
}

export async function issueCardWithCall(
  members: CardMembers,
  context: CardContext<'card.created'>,
): Promise<LockedCard | IssueBlocker> {
  const reserved = await reserveCard(members, context)
  if (typeof reserved === 'string') return reserved
  beginProcessorCall(reserved.card, context.now)
  context.wake(cardProcess, reserved.card)
  return reserved
}

async function reserveCard(members: CardMembers, context: CardContext<'card.created'>) {
  const { em, tenant, now, systems, emit } = context
  const { name: processor } = systems.cardProcessor(tenant.mode)
  const { agentId, intentId } = members
  const [agent, intent] = await Promise.all([
    lockAgent(em, agentId),
    intentId === null ? null : lockIntent(em, intentId),
  ])
  if (!agent) return 'agent_not_found'
  if (agent.status !== 'active') return 'agent_not_active'
  if (intentId !== null && intent?.agentId !== agentId) return 'intent_not_found'
  const problem = intent && (await notPayableByCardReason(intent, { em, now }))
  if (problem) return problem
  const id = newId('card')
  if (intent) assignCardToIntent(intent, id)
  const terms = em.create(CardTerms, termsOf(id, members))
  const card = em.create(Card, { ...membersOf(members, agent.name), id, processor })
  card.workflowId = workflowIdOf(cardProcess, id)
  emit('card.created', cardEvent(card))
  return { agent, card, terms }
}

const membersOf = (
  { agentId, usage, displayName, intentId, requestId, activate, metadata }: CardMembers,
  agentName: string,
) => ({
  agentId,
  usage,
  displayName: displayName ?? agentName,
  intentId,
  requestId: requestId ?? null,
  activates: activate,
  metadata,
})

const termsOf = (id: string, { agentId, intentId, limits, controls }: CardMembers) => ({
  id,
  agentId,
  intentId,
  status: 'pending' as const,
  ...limits,
  ...controls,
})

/**
 * Records a newly issued number as the one in use. Its limits and controls at the processor are known only if
 * they were never changed, since an earlier repetition of the request may have set them.
 */
export function addCardNumber(
  { card }: LockedCard,
  issued: IssuedCard,
  id: string,
  { em }: WriteContext,
): CardNumber {
  const { processorCardId, brand, last4, expMonth, expYear } = issued
  const shown = { brand, last4, expMonth, expYear }
  const { agentId, processor, id: cardId } = card
  const endsAt = lastInstantOf(expYear, expMonth)
  Object.assign(card, { ...shown, numberId: id })
  return em.create(CardNumber, { id, agentId, cardId, processor, processorCardId, ...shown, endsAt })
}

const lastInstantOf = (year: number, month: number): Date => new Date(Date.UTC(year, month, 1) - 1)

/** The card's id is the reference of its first number: however often it is requested, there is one card. */
export const cardIssueRequest = (
  locked: Pick<LockedCard, 'card' | 'terms'>,
  context: WriteContext,
): Promise<CardNumberRequest> => {
  const { id: reference, createdAt: requestedAt } = locked.card
  return cardNumberRequestFor(locked, { reference, requestedAt }, context)
}

/** Undefined if the call is not due. */
export async function reserveCardIssue(
  cardId: string,
  context: WriteContext,
): Promise<CardNumberRequest | undefined> {
  const locked = await lockForProcessorCall(cardId, 'issue', context)
  return locked ? cardIssueRequest(locked, context) : undefined
}

export const requestCardIssue = (request: CardNumberRequest, processor: CardProcessor) =>
  processor.issue(newProcessorCard(request), processorCallFor(request, request.reference))

type Recording = CardContext<'card.issued' | 'card.activated' | 'card.closed'>

export async function recordIssuedCard(
  answer: IssuedCard | ProcessorFailure,
  { cardId }: CardNumberRequest,
  context: Recording,
): Promise<LockedCardNumbers> {
  const locked = await lockCardNumbers(cardId, context)
  if (!locked) throw new Error('a card that was asked for is recorded')
  const { card, numbers } = locked
  if (card.numberId !== null) return locked
  if (isProcessorFailure(answer)) {
    card.processorProblem = processorProblemText(answer)
    if (answer.failure === 'refused') refuseCard(locked, context)
    else scheduleCardStep(locked, context.now)
    return locked
  }
  const number = addCardNumber(locked, answer, newId('cardnumber'), context)
  const isOpen = moveCardStatus(locked, card.activates ? 'active' : 'inactive')
  context.emit('card.issued', cardEvent(card))
  if (isOpen && card.activates) context.emit('card.activated', cardEvent(card))
  const issued = { ...locked, numbers: [number, ...numbers] }
  clearProcessorCall(issued, context)
  return issued
}

function refuseCard(locked: LockedCardNumbers, context: Recording): void {
  closeCard(locked, 'processor_refused', context)
  clearProcessorCall(locked, context)
}
