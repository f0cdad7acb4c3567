import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { type IssueBlocker, issueCard, setLimits } from '../cards/index.ts'
import { moveRequest } from './answer.ts'
import type { cardRequestsApi } from './api.ts'
import { type CardRequest, cardRequestMachine } from './card-request.ts'
import { approvedLimits, askedLimits, limitsAfter } from './limits.ts'
import { type LockedRequest, lockRequest } from './lock-request.ts'
import { isToBeCarriedOut } from './status.ts'

type CarryingOut = ContextOf<typeof cardRequestsApi.carryOut>

const DONE = { done: true }
const AGENT_NOT_ACTIVE = 'The agent was frozen or deleted meanwhile.'

const noControls = {
  merchantAllowlist: [],
  merchantBlocklist: [],
  allowedCountries: [],
  allowedMccs: [],
  blockedMccs: [],
  mccCategories: [],
}

/** Does what was approved. Process and sweep may both try: the second finds nothing to do. */
export const carryOut: HandlerOf<typeof cardRequestsApi.carryOut> = async ({ params }, context) => {
  const found = await lockRequest(params.id, context)
  if (!found) return context.refuse('request_not_found')
  const { request, agent } = found
  if (!isToBeCarriedOut(request)) return DONE
  if (agent.status !== 'active') fail(request, AGENT_NOT_ACTIVE, context)
  else if (request.type === 'new_card') await issue(request, context)
  else change(found, context)
  return DONE
}

/** Asks for the card. The request is `issued` when the processor has issued it. */
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
  if (typeof issued === 'string') fail(request, failureWords(issued), context)
  else Object.assign(request, { cardId: issued.card.id, dueAt: null })
}

const failureWords = (blocker: IssueBlocker): string =>
  blocker === 'agent_not_found' || blocker === 'agent_not_active'
    ? AGENT_NOT_ACTIVE
    : `No card can be issued: ${blocker}.`

function change({ request, locked }: LockedRequest, context: CarryingOut): void {
  if (!locked || locked.card.status === 'closed') fail(request, 'The card was closed meanwhile.', context)
  else {
    const limits = limitsAfter(askedLimits(request), approvedLimits(request), locked.terms)
    setLimits(locked, limits, context)
    moveRequest(request, 'changed', context)
  }
}

/** Ends a request that was approved and cannot be carried out. */
export function fail(request: CardRequest, reason: string, context: Parameters<typeof moveRequest>[2]): void {
  if (!cardRequestMachine.can(request.status, 'failed')) return
  request.failureReason = reason
  moveRequest(request, 'failed', context, reason)
}
