import {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  approvalProgressOf,
  deleteRecordedApprovals,
  deniedInWords,
  dropApprovals,
  makeAllDueSql,
  nextOfWaiting,
  readApprovers,
  recordedApprovalsOf,
  remindOfApproval,
  restartApproval,
  setApproval,
} from '../../../identity/approvals/index.ts'
import { personEvents } from '../../../identity/people/index.ts'
import { reaction, reactionToAll } from '../../../kernel/contract/area.ts'
import type { ReadContext, WriteContext } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { AgentEvent } from '../../agents/index.ts'
import { effectivePolicy, PolicyEvent } from '../../policies/index.ts'
import { intentSteps } from '../api.ts'
import { type Intent, intentMachine, lockIntent, lockWithSteps } from '../intent.ts'
import { intentProcess } from '../process.ts'
import { approvalEvent, intentEvent } from '../response.ts'

type Waiting = Intent & { approval: ApprovalProgress }

const isWaiting = (intent: Intent | null): intent is Waiting =>
  intent?.status === 'created' && intent.approval !== null

/** What the run of a waiting intent does next about its approvals, and when; undefined where one person approves. */
export async function nextApprovalStep(intent: Intent, { em, sql, tenant, now }: ReadContext) {
  if (!isWaiting(intent)) return undefined
  const { approval, approvalDueAt, amountCents, agentId } = intent
  const [approvers, policy] = await Promise.all([readApprovers(sql, tenant), effectivePolicy(em, agentId)])
  const steps = policy?.approval ?? []
  return nextOfWaiting(approval, amountCents, { approvalDueAt, approvers, steps, now })
}

/** Sends the reminder that is due by the tenant’s clock, once. */
export async function remindApprovers(
  id: string,
  { em, sql, tenant, now, emit, wake }: WriteContext<(typeof intentSteps.remind)['emits']>,
): Promise<void> {
  const intent = await lockIntent(em, id)
  const reminded = isWaiting(intent) && remindOfApproval(intent.approval, now)
  if (!isWaiting(intent) || !reminded) return
  setApproval(intent, reminded, { approvers: await readApprovers(sql, tenant), now })
  emit('intent.approval_reminder', approvalEvent(intent))
  wake(intentProcess, intent)
}

type Ending = WriteContext<(typeof intentSteps.endStep)['emits']>

/** Goes on where the time of a step is over, or people or steps have changed: asks the next people, or denies. */
export async function endApprovalStep(id: string, context: Ending): Promise<void> {
  const { em, sql, tenant, now } = context
  const intent = await lockIntent(em, id)
  if (!isWaiting(intent)) return
  const [approvers, policy] = await Promise.all([
    readApprovers(sql, tenant),
    effectivePolicy(em, intent.agentId),
  ])
  const begun = approvalProgressOf(intent, intent.amountCents, { steps: policy?.approval ?? [], now })
  if (!begun) Object.assign(intent, { approval: null, approvalDueAt: null })
  else await goOn(intent, begun, approvers, context)
}

async function goOn(
  intent: Waiting,
  begun: ApprovalProgress,
  approvers: readonly Approver[],
  context: Ending,
) {
  const { now, emit, wake } = context
  const kept = dropApprovals(begun, approvers)
  const isAnew = begun !== intent.approval || kept.given.length < begun.given.length
  const { progress, outcome, hasEscalated } = advanceApproval(kept, intent.amountCents, { approvers, now })
  if (progress !== intent.approval) await dropRecorded(intent, progress, context)
  setApproval(intent, progress, { approvers, now })
  if (outcome === 'denied') deny(intent, context)
  else if (hasEscalated) emit('intent.approval_escalated', approvalEvent(intent))
  else if (isAnew) emit('intent.approval_reminder', approvalEvent(intent))
  wake(intentProcess, intent)
}

function deny(intent: Waiting, { now, emit }: Ending): void {
  const { approval, amountCents } = intent
  if (!intentMachine.move(intent, 'denied')) return
  const comment = deniedInWords(approval, amountCents)
  const decidedBy = { type: 'policy' as const, id: intent.decision.policyId, name: null }
  Object.assign(intent, { decidedAt: now, decidedBy, comment, approvalDueAt: null })
  emit('intent.denied', intentEvent(intent, comment))
}

/** Approvals that no longer count are not kept. */
async function dropRecorded(
  { id }: Intent,
  { given }: ApprovalProgress,
  { sql, tenant, queueStatement }: WriteContext,
): Promise<void> {
  const recorded = await recordedApprovalsOf(sql, tenant, [id])
  const gone = recorded.filter(({ personId }) => !given.some(one => one.personId === personId))
  if (gone.length > 0) queueStatement(deleteRecordedApprovals(sql, tenant, gone))
}

const MAKE_DUE = makeAllDueSql('intents', 'created')

/** People have left or have another role, or policies have changed: what waits looks at once who is asked. */
async function lookAtWaiting(
  { sql, tenant: { ownerId, mode }, now, wake }: WriteContext,
  agentIds: readonly string[] | null = null,
): Promise<void> {
  const waiting = await sql<{ id: string; agentId: string } & Row>(MAKE_DUE, [ownerId, mode, now, agentIds])
  for (const intent of waiting) wake(intentProcess, intent)
}

const onPoliciesChanged = reactionToAll(PolicyEvent, {}, async (policies, context) => {
  const agentIds = policies.flatMap(({ agentId }) => agentId ?? [])
  if (agentIds.length > 0) await lookAtWaiting(context, agentIds)
})

/** Further ones are reminded at half of the time of their step. */
const MOST_REMINDED = 100

export const approvalReactions = {
  'policy.updated': onPoliciesChanged,
  'policy.assigned': onPoliciesChanged,
  'person.removed': reaction(personEvents['person.removed'], {}, (_, context) => lookAtWaiting(context)),
  'person.updated': reaction(personEvents['person.updated'], {}, async ({ changed }, context) => {
    if (changed.includes('role')) await lookAtWaiting(context)
  }),
  /** What was approved before is asked anew. */
  'agent.frozen': reaction(AgentEvent, {}, async ({ agentId }, context) => {
    const { em, sql, tenant, now, wake } = context
    const waiting = await lockWithSteps(em, agentId)
    const approvers = waiting.length > 0 ? await readApprovers(sql, tenant) : []
    for (const intent of waiting.filter(isWaiting)) {
      const anew = restartApproval(intent.approval, intent.amountCents, now)
      await dropRecorded(intent, anew, context)
      setApproval(intent, anew, { approvers, now })
      wake(intentProcess, intent)
    }
  }),
  /** No approval counts while the agent is frozen, so its people are asked when it ends. */
  'agent.unfrozen': reaction(AgentEvent, intentSteps.remind.emits, async ({ agentId }, { em, emit }) => {
    const waiting = await lockWithSteps(em, agentId, MOST_REMINDED)
    for (const intent of waiting.filter(isWaiting)) emit('intent.approval_reminder', approvalEvent(intent))
  }),
}
