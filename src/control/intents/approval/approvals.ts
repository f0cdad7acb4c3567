import {
  type ApprovalProgress,
  type Approver,
  approvalProgressOf,
  approvalProgressResponse,
  approverProblem,
  readApproversAndDeputies,
  setApproval,
} from '../../../identity/approvals/index.ts'
import { openPasskeyChallenge } from '../../../identity/passkeys/index.ts'
import { findPerson } from '../../../identity/people/index.ts'
import type { Actor } from '../../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../../kernel/contract/context.ts'
import type { EntityReader } from '../../../kernel/contract/entity-manager.ts'
import { bindHandlers } from '../../../kernel/contract/operation.ts'
import type { Openings } from '../../../statements/index.ts'
import type { Cents } from '../../../values/money.ts'
import { approvalStepsOf, findSpendingAgents, type SpendingAgent } from '../../policies/index.ts'
import { addTolerance, type RuleCheck } from '../../rules/index.ts'
import { Intent, lockIntent } from '../intent.ts'
import { alreadyInStatusMessage } from '../intent-batch.ts'
import { intentProcess } from '../process.ts'
import { loadSpendDecisionContext } from '../spend-context.ts'
import { SpendReads } from '../spend-locks.ts'
import { Approval, ApprovalCommitmentOpenings } from './approval.ts'
import { approvalApi } from './approval-api.ts'
import { decideApproval } from './approve.ts'
import { refusalOfApprover, saltOfPlace } from './steps.ts'
import { intentApprovalSubject, readCurrentIbans } from './subject.ts'

export type IntentApprovalProgress = ReturnType<typeof approvalProgressResponse>

interface ApprovalReview {
  readonly iban: string | null
  readonly largestCents: Cents
  readonly checks: readonly RuleCheck[]
  /** Null if one person approves. */
  readonly steps: IntentApprovalProgress | null
  /** The code of the refusal that an approval of the caller would get, because the policy asks others. */
  readonly notAsked: string | undefined
}

async function reviewSteps(
  intent: Intent,
  agent: SpendingAgent,
  context: ReadContext,
): Promise<Pick<ApprovalReview, 'steps' | 'notAsked'>> {
  const { now } = context
  const progress = approvalProgressOf(intent, intent.amountCents, { steps: approvalStepsOf(agent), now })
  if (!progress) return { steps: null, notAsked: undefined }
  const { amountCents } = intent
  const approvers = await readApproversAndDeputies(context.sql, context)
  const problem = approverProblem(progress, amountCents, {
    approvers,
    now,
    personId: String(context.actor.id),
  })
  return {
    steps: approvalProgressResponse(progress, { amountCents, isOpen: true, approvers }),
    notAsked: problem && refusalOfApprover(problem)[0],
  }
}

/** The decision that an approval of a waiting intent would get now. Stores and reserves nothing. */
export async function reviewApproval(intent: Intent, readContext: ReadContext): Promise<ApprovalReview> {
  const { sql, tenant, now, service } = readContext
  const tenantNow = { tenant, now }
  const [context, ibanOf] = await Promise.all([
    loadSpendDecisionContext(new SpendReads(sql, tenantNow), [intent], service),
    readCurrentIbans(sql, tenant, [intent]),
  ])
  const agent = context.agents.get(intent.agentId)
  if (!agent) throw new Error(`${intent.id} has no agent`)
  const iban = ibanOf(intent)
  const signature = { iban, verified: { attestedAt: now } }
  const { ruling } = decideApproval(tenantNow, intent, agent, { ...context, book: context.funds }, signature)
  const tolerance = agent.policy.terms?.amountTolerancePercent ?? null
  return {
    iban,
    largestCents: addTolerance(intent.amountCents, tolerance),
    checks: ruling.checks,
    ...(await reviewSteps(intent, agent, readContext)),
  }
}

export const hasApprovalProof = async (intentId: string, em: EntityReader): Promise<boolean> =>
  (await em.count(Approval, { intentId })) > 0

export const findApprovalProof = async (intentId: string, em: EntityReader): Promise<string | null> =>
  (await em.findOne(Approval, { intentId }))?.jws ?? null

/** The policy has begun to ask several people since the declaration: their statements need one salt. */
async function keepBegunApproval(
  id: string,
  progress: ApprovalProgress,
  approvers: readonly Approver[],
  { em, now, wake }: WriteContext,
): Promise<void> {
  const intent = await lockIntent(em, id)
  if (intent?.status !== 'created') return
  setApproval(intent, progress, { approvers, now })
  wake(intentProcess, intent)
}

export const approvalHandlers = bindHandlers(approvalApi, {
  async challenge({ params, body }, context) {
    const { em, sql, tenant, actor, now, refuse } = context
    const intent = await em.findOne(Intent, { id: params.intentId })
    if (!intent) return refuse('intent_not_found')
    if (intent.status !== 'created')
      return refuse('intent_not_waiting', alreadyInStatusMessage(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    const inConsole = actor.type === 'console'
    if (inConsole && body.personId !== null && body.personId !== actor.id) return refuse('person_mismatch')
    const personId = inConsole ? actor.id : body.personId
    if (body.personId !== null && !(await findPerson(body.personId, context)))
      return refuse('person_not_found')
    const [spenders, ibanOf] = await Promise.all([
      findSpendingAgents(sql, tenant, [intent.agentId]),
      readCurrentIbans(sql, tenant, [intent]),
    ])
    const spender = spenders.get(intent.agentId)
    if (!spender) throw new Error(`${intent.id} has no agent`)
    const members = intentApprovalSubject(intent, { spender, iban: ibanOf(intent), personId })
    const opening = { kind: 'intent' as const, subjectId: intent.id, members, personId }
    const progress = approvalProgressOf(intent, intent.amountCents, { steps: approvalStepsOf(spender), now })
    if (!progress) return openPasskeyChallenge(opening, context)
    const approvers = await readApproversAndDeputies(sql, { tenant, now })
    const problem = personId && approverProblem(progress, intent.amountCents, { approvers, now, personId })
    if (problem) return refuse(...refusalOfApprover(problem))
    if (progress !== intent.approval) await keepBegunApproval(intent.id, progress, approvers, context)
    return openPasskeyChallenge({ ...opening, saltOf: place => saltOfPlace(progress.salt, place) }, context)
  },

  async approval({ params }, { em, actor, refuse }) {
    const intent = await em.findOne(Intent, { id: params.id })
    if (!intent) return refuse('intent_not_found')
    const approval = await em.findOne(Approval, { intentId: intent.id })
    if (!approval) return refuse('approval_not_found')
    const kept = await em.findOne(ApprovalCommitmentOpenings, { id: approval.id })
    const { id, intentId, createdAt: approvedAt, jws, keptUntil } = approval
    return { id, intentId, approvedAt, jws, openings: visibleTo(actor, kept?.openings ?? {}), keptUntil }
  },
})

/** An agent sees the openings that it knows. Accounts and people are visible only to its owner. */
const SEEN_BY_AGENTS = ['payee.name', 'agentName', 'purpose']

const visibleTo = ({ agentId }: Actor, openings: Openings): Openings =>
  agentId
    ? Object.fromEntries(Object.entries(openings).filter(([place]) => SEEN_BY_AGENTS.includes(place)))
    : openings
