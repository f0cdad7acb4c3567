import { AgentEvent } from '../../control/agents/index.ts'
import { reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { applyCardLimits, CardEvent, type IssueBlocker, issueCard } from '../cards/index.ts'
import { type LockedCardRequest, lockCardRequest, moveCardRequest } from './answer.ts'
import { cardRequestEvents, type cardRequestSteps } from './api.ts'
import {
  approvedLimits,
  CardRequest,
  cardRequestMachine,
  isFulfilmentDue,
  limitsAfterRequest,
  requestedLimits,
} from './card-request.ts'

type CarryingOut = WriteContext<(typeof cardRequestSteps.carryOut)['emits']>

const AGENT_NOT_ACTIVE = 'The agent was frozen or deleted in the meantime.'

const noControls = {
  merchantAllowlist: [],
  merchantBlocklist: [],
  allowedCountries: [],
  allowedMccs: [],
  blockedMccs: [],
  mccCategories: [],
}

/** The second time changes nothing. */
export async function carryOutApproval(id: string, context: CarryingOut): Promise<void> {
  const found = await lockCardRequest(id, context)
  if (!found) return
  const { request, agent } = found
  if (!isFulfilmentDue(request)) return
  if (agent.status !== 'active') fail(request, AGENT_NOT_ACTIVE, context)
  else if (request.type === 'new_card') await issue(request, context)
  else change(found, context)
}

async function issue(request: CardRequest, context: CarryingOut): Promise<void> {
  const { agentId, usage, displayName, controls } = request
  const issued = await issueCard(
    {
      agentId,
      usage: usage ?? 'multi',
      displayName: displayName ?? undefined,
      limits: approvedLimits(request),
      controls: controls ?? noControls,
      activate: true,
      intentId: null,
      requestId: request.id,
      metadata: {},
    },
    context,
  )
  if (typeof issued === 'string') fail(request, failureMessages(issued), context)
  else Object.assign(request, { cardId: issued.card.id, dueAt: null })
}

const failureMessages = (blocker: IssueBlocker): string =>
  blocker === 'agent_not_found' || blocker === 'agent_not_active'
    ? AGENT_NOT_ACTIVE
    : `No card can be issued: ${blocker}.`

function change({ request, locked }: LockedCardRequest, context: CarryingOut): void {
  if (!locked || locked.card.status === 'closed')
    fail(request, 'The card was closed in the meantime.', context)
  else {
    const limits = limitsAfterRequest(requestedLimits(request), approvedLimits(request), locked.terms)
    applyCardLimits(locked, limits, context)
    moveCardRequest(request, 'changed', context)
  }
}

function fail(request: CardRequest, reason: string, context: Parameters<typeof moveCardRequest>[2]): void {
  if (!cardRequestMachine.can(request.status, 'failed')) return
  request.failureReason = reason
  moveCardRequest(request, 'failed', context, reason)
}

const REFUSED = 'The processor refused to issue the card.'
const CLOSED = 'The card was closed before it was issued.'

/** A card that the owner made has no request, so no query is needed. */
const lockRequestOf = async (
  { requestId }: { readonly requestId?: string | undefined },
  { em }: WriteContext,
): Promise<CardRequest | null> => (requestId ? em.findOne(CardRequest, { id: requestId }, FOR_UPDATE) : null)

export const cardRequestReactions = {
  'card.issued': reaction(CardEvent, cardRequestEvents, async (card, context) => {
    const request = await lockRequestOf(card, context)
    if (request) moveCardRequest(request, 'issued', context)
  }),
  'card.closed': reaction(CardEvent, cardRequestEvents, async (card, context) => {
    const request = await lockRequestOf(card, context)
    if (request) fail(request, card.reason === 'processor_refused' ? REFUSED : CLOSED, context)
  }),
  /** When the agent is deleted, pending requests end. Approved ones fail, as their card is closed or not issued. */
  'agent.deleting': reaction(AgentEvent, cardRequestEvents, async ({ agentId }, context) => {
    const pending = await context.em.find(CardRequest, { agentId, status: 'pending' }, FOR_UPDATE_BY_ID)
    for (const request of pending) {
      request.comment = 'The agent is being deleted.'
      moveCardRequest(request, 'cancelled', context, request.comment)
    }
  }),
}
