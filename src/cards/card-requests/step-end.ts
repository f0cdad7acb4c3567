import { AgentEvent } from '../../control/agents/index.ts'
import { effectivePolicy, type Policy, PolicyEvent } from '../../control/policies/index.ts'
import {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  approvalProgressOf,
  deniedInWords,
  dropApprovals,
  makeAllDueSql,
  nextOfWaiting,
  readApprovers,
  remindOfApproval,
  restartApproval,
} from '../../identity/approvals/index.ts'
import { personEvents } from '../../identity/people/index.ts'
import { reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { moveCardRequest } from './answer.ts'
import { cardRequestSteps } from './api.ts'
import {
  amountToApprove,
  CardRequest,
  cardApprovalEvent,
  setCardApproval,
  withoutSteps,
} from './card-request.ts'
import { cardRequestProcess } from './process.ts'

type Waiting = CardRequest & { approval: ApprovalProgress }

const isWaiting = (request: CardRequest | null): request is Waiting =>
  request?.status === 'pending' && request.approval !== null

const lock = (em: EntityManager, id: string): Promise<CardRequest | null> =>
  em.findOne(CardRequest, { id }, FOR_UPDATE)

/** What the run of a pending request does next about its approvals, and when; undefined where one person approves. */
export async function nextApprovalStep(request: CardRequest, { em, sql, tenant, now }: ReadContext) {
  if (!isWaiting(request)) return undefined
  const { approval, approvalDueAt, agentId } = request
  const [approvers, policy] = await Promise.all([readApprovers(sql, tenant), effectivePolicy(em, agentId)])
  const steps = policy?.approval ?? []
  return nextOfWaiting(approval, amountToApprove(request), { approvalDueAt, approvers, steps, now })
}

/** Sends the reminder that is due by the tenant’s clock, once. */
export async function remindCardApprovers(
  id: string,
  { em, sql, tenant, now, emit, wake }: WriteContext<(typeof cardRequestSteps.remind)['emits']>,
): Promise<void> {
  const request = await lock(em, id)
  const reminded = isWaiting(request) && remindOfApproval(request.approval, now)
  if (!isWaiting(request) || !reminded) return
  setCardApproval(request, reminded, { approvers: await readApprovers(sql, tenant), now })
  emit('card_limit_request.approval_reminder', cardApprovalEvent(request))
  wake(cardRequestProcess, request)
}

type Ending = WriteContext<(typeof cardRequestSteps.endStep)['emits']>

/** Goes on where the time of a step is over, or people or steps have changed: asks the next people, or denies. */
export async function endCardApprovalStep(id: string, context: Ending): Promise<void> {
  const { em, sql, tenant, now } = context
  const request = await lock(em, id)
  if (!isWaiting(request)) return
  const [approvers, policy] = await Promise.all([
    readApprovers(sql, tenant),
    effectivePolicy(em, request.agentId),
  ])
  const steps = policy?.approval ?? []
  const begun = approvalProgressOf(request, amountToApprove(request), { steps, now })
  if (policy && begun) goOn(request, begun, { approvers, policy }, context)
  else Object.assign(request, withoutSteps)
}

function goOn(
  request: Waiting,
  begun: ApprovalProgress,
  { approvers, policy }: { readonly approvers: readonly Approver[]; readonly policy: Policy },
  context: Ending,
): void {
  const { now, emit, wake } = context
  const kept = dropApprovals(begun, approvers)
  const isAnew = begun !== request.approval || kept.given.length < begun.given.length
  const advance = advanceApproval(kept, amountToApprove(request), { approvers, now })
  setCardApproval(request, advance.progress, { approvers, now })
  if (advance.outcome === 'denied') deny(request, policy, context)
  else if (advance.hasEscalated) emit('card_limit_request.approval_escalated', cardApprovalEvent(request))
  else if (isAnew) emit('card_limit_request.approval_reminder', cardApprovalEvent(request))
  wake(cardRequestProcess, request)
}

function deny(request: Waiting, { id }: Policy, context: Ending): void {
  const comment = deniedInWords(request.approval, amountToApprove(request))
  const answeredBy = { type: 'policy' as const, id, name: null }
  Object.assign(request, { answeredAt: context.now, answeredBy, comment })
  moveCardRequest(request, 'denied', context, comment)
}

const MAKE_DUE = makeAllDueSql('card_requests', 'pending')

/** People have left or have another role, or policies have changed: what waits looks at once who is asked. */
async function lookAtWaiting(
  { sql, tenant: { ownerId, mode }, now, wake }: WriteContext,
  agentIds: readonly string[] | null = null,
): Promise<void> {
  const waiting = await sql<{ id: string; agentId: string } & Row>(MAKE_DUE, [ownerId, mode, now, agentIds])
  for (const request of waiting) wake(cardRequestProcess, request)
}

const onPoliciesChanged = reactionToAll(PolicyEvent, {}, async (policies, context) => {
  const agentIds = policies.flatMap(({ agentId }) => agentId ?? [])
  if (agentIds.length > 0) await lookAtWaiting(context, agentIds)
})

const lockWithSteps = (em: EntityManager, agentId: string): Promise<CardRequest[]> =>
  em.find(CardRequest, { agentId, status: 'pending', approvalDueAt: { $ne: null } }, FOR_UPDATE_BY_ID)

export const cardApprovalReactions = {
  'policy.updated': onPoliciesChanged,
  'policy.assigned': onPoliciesChanged,
  'person.removed': reaction(personEvents['person.removed'], {}, (_, context) => lookAtWaiting(context)),
  'person.updated': reaction(personEvents['person.updated'], {}, async ({ changed }, context) => {
    if (changed.includes('role')) await lookAtWaiting(context)
  }),
  /** What was approved before is asked anew. */
  'agent.frozen': reaction(AgentEvent, {}, async ({ agentId }, { em, sql, tenant, now, wake }) => {
    const waiting = await lockWithSteps(em, agentId)
    const approvers = waiting.length > 0 ? await readApprovers(sql, tenant) : []
    for (const request of waiting.filter(isWaiting)) {
      const anew = restartApproval(request.approval, amountToApprove(request), now)
      setCardApproval(request, anew, { approvers, now })
      wake(cardRequestProcess, request)
    }
  }),
  /** No approval counts while the agent is frozen, so its people are asked when it ends. */
  'agent.unfrozen': reaction(AgentEvent, cardRequestSteps.remind.emits, async ({ agentId }, { em, emit }) => {
    const waiting = await lockWithSteps(em, agentId)
    for (const request of waiting.filter(isWaiting))
      emit('card_limit_request.approval_reminder', cardApprovalEvent(request))
  }),
}
