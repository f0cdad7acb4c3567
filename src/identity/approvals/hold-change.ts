import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import { Accepted, type Refusal } from '../../kernel/contract/problem.ts'
import { question } from '../../kernel/contract/question.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { type ApprovalStep, areStepsEased, MAX_CHANGE_POLICIES } from '../../values/approval-steps.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { addMs } from '../../values/clock.ts'
import { peopleInWords, readApproversAndDeputies, readApproversWithLeft } from './approvers.ts'
import {
  CHANGE_AMOUNT,
  CHANGE_REQUEST_TTL_MS,
  ChangeRequest,
  changeRequestEvent,
  changeRequestResponse,
  type HeldWrite,
  noRoomFor,
} from './change-request.ts'
import type { bySeveral } from './change-schemas.ts'
import {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  beginChange,
  giveApproval,
  isAskedBy,
  isPossible,
  type PolicySteps,
  whyNotAsked,
} from './progress.ts'

type Holding = Context<keyof typeof bySeveral.fails, typeof bySeveral.emits>

export interface HeldChange {
  readonly write: HeldWrite
  /** What people sign. */
  readonly changes: readonly StatedWidening[]
  readonly policyId?: string | null | undefined
  readonly agentId?: string | null | undefined
  readonly personId?: string | null | undefined
}

interface Signing {
  readonly policies: PolicySteps
  /** Who has signed the change by asking for it. */
  readonly signerId: string | null
}

/** Keeps a change until the people of all these policies have signed it. Undefined: they have, and it is made. */
export async function holdChange(
  change: HeldChange,
  { policies, signerId }: Signing,
  context: Holding,
): Promise<Accepted | Refusal | undefined> {
  const { sql, tenant, now, refuse } = context
  const approvers = await readApproversAndDeputies(sql, { tenant, now })
  if (policies.length > MAX_CHANGE_POLICIES)
    return refuse('too_few_approvers', tooManyGroups(policies.length))
  const begun = beginChange(policies, { approvers, now })
  if (!isPossible(begun, approvers)) return refuse('too_few_approvers', tooFewForChange(policies, approvers))
  const counts = signerId !== null && whyNotAsked(begun, approvers, signerId) === undefined
  const approval = counts ? giveApproval(begun, approvers, { personId: signerId, now }) : begun
  const { outcome } = advanceApproval(approval, CHANGE_AMOUNT, { approvers, now })
  return outcome === 'approved' ? undefined : propose(change, approval, approvers, context)
}

const tooManyGroups = (count: number): string =>
  `The policies that ask people name ${count} different groups of them, and at most ${MAX_CHANGE_POLICIES} can approve a change together. Have some of these policies ask the same people first.`

function tooFewForChange(policies: PolicySteps, approvers: readonly Approver[]): string {
  const short = policies.find(
    steps => !isPossible(beginChange([steps], { approvers, now: new Date(0) }), approvers),
  )
  const steps = short ?? []
  const needed = steps.reduce((sum, { need }) => sum + need, 0)
  const able = approvers.filter(approver => steps.some(step => isAskedBy(step, approver))).length
  return `${peopleInWords(needed)} must approve this, as all steps of a policy ask, and ${able} of those whom they ask can. Without them, only the end of the agents with such policies frees it, three days after they have left: DELETE /agents/{id}.`
}

async function propose(
  { write, changes, policyId = null, agentId = null, personId = null }: HeldChange,
  approval: ApprovalProgress,
  approvers: readonly Approver[],
  context: Holding,
): Promise<Accepted | Refusal> {
  const { em, actor, now, emit, refuse } = context
  const full = await noRoomFor(actor, context)
  if (full) return refuse('too_many_changes', full)
  const change = em.create(ChangeRequest, {
    write,
    policyId,
    agentId,
    personId,
    changes,
    approval,
    proposedBy: proposerOf(actor),
    expiresAt: addMs(now, CHANGE_REQUEST_TTL_MS),
  })
  emit('change_request.created', changeRequestEvent(change))
  return new Accepted(changeRequestResponse(change, { approvers, now }))
}

const proposerOf = ({ type, id, name }: Actor) => ({ type, id, name: name ?? null })

type Steps = readonly ApprovalStep[]

const peopleOf = ({ of }: ApprovalStep): ApprovalStep['of'] => (typeof of === 'string' ? of : of.toSorted())

/** A change has no amount, so each step is asked; all steps have the time of the change. */
const askedForAll = (step: ApprovalStep): ApprovalStep => ({
  ...step,
  of: peopleOf(step),
  aboveCents: '0',
  withinMinutes: CHANGE_REQUEST_TTL_MS / 60_000,
})

/** Whether who approves for the other step approves for this one as well. */
const isStepCoveredBy = (step: ApprovalStep, other: ApprovalStep): boolean => {
  // Others may stand in for the people of a step that goes on.
  if (other.need < step.need || other.then === 'next') return false
  const { of } = step
  return (
    of === 'approvers' ||
    of === other.of ||
    (Array.isArray(other.of) && other.of.every(id => of.includes(id)))
  )
}

/** Whether each step is covered by another one of the other policy, since a person counts in one step of it. */
const isCoveredBy = ([first, ...others]: Steps, policy: Steps): boolean =>
  first === undefined ||
  policy.some(
    (step, place) => isStepCoveredBy(first, step) && isCoveredBy(others, policy.toSpliced(place, 1)),
  )

/**
 * Who decides about changes under these policies: the people of all steps of each, as of a payment above all amounts. Who
 * cannot approve such a payment cannot change what it asks. More people of one policy do not stand for those of another, since
 * who makes a policy chooses whom it asks.
 */
export function policiesToAsk(policies: PolicySteps): PolicySteps {
  const asking = policies.filter(steps => steps.length > 0).map(steps => steps.map(askedForAll))
  const byText = new Map(asking.map(steps => [canonicalJson(steps), steps]))
  const different = [...byText.keys()].toSorted().flatMap(text => [byText.get(text) ?? []])
  // More than that approve no change, so that it does not matter which are left out.
  if (different.length > MAX_CHANGE_POLICIES) return different
  const isLeftOut = (steps: Steps, place: number): boolean =>
    different.some(
      (other, at) => at !== place && isCoveredBy(steps, other) && (at < place || !isCoveredBy(other, steps)),
    )
  return different.filter((steps, place) => !isLeftOut(steps, place))
}

/** A policy with steps by which an agent pays. */
export interface AskingPolicy {
  readonly id: string
  readonly name: string
  readonly steps: Steps
}

/** One policy for each different list of steps. `isOfOthers`: another agent than this one has such steps too. */
export const stepsInForce = question<
  { readonly agentId: string | null },
  readonly (AskingPolicy & { readonly isOfOthers: boolean })[]
>('approvals.steps_in_force')

const readAskingPolicies = async (context: ReadContext, agentId: string | null = null) =>
  (await context.service.ask(stepsInForce, { agentId }, context)).flat()

/** Where too few of its people have been left for some days, no one can be asked by it. */
async function canBeAsked(
  policies: readonly AskingPolicy[],
  { sql, tenant, now }: ReadContext,
): Promise<AskingPolicy[]> {
  if (policies.length === 0) return []
  const approvers = await readApproversWithLeft(sql, { tenant, now })
  return policies.filter(({ steps }) => isPossible(beginChange([steps], { approvers, now }), approvers))
}

/** A policy in force that asks people whom these steps would not ask; undefined if they ask all of them. */
export async function findPolicyAskingMore(
  steps: Steps,
  context: ReadContext,
): Promise<AskingPolicy | undefined> {
  const asking = await readAskingPolicies(context)
  const more = asking.filter(policy => areStepsEased(policy.steps, steps))
  return (await canBeAsked(more, context))[0]
}

/** The policy of this agent, if it alone asks its people: they hold what leaves every wallet, and its end would free that. */
export async function findPolicyAskingAlone(
  agentId: string,
  context: ReadContext,
): Promise<AskingPolicy | undefined> {
  const all = await readAskingPolicies(context, agentId)
  const others = all.filter(({ isOfOthers }) => isOfOthers)
  const own = all.filter(({ steps }) => others.every(other => areStepsEased(steps, other.steps)))
  return (await canBeAsked(own, context))[0]
}

/** A change of who approves, as it is compared under the locks. */
export interface ApproverChange {
  /** Whether it changes who approves in this step. */
  readonly concerns: (step: ApprovalStep) => boolean
  readonly changes: readonly StatedWidening[]
  readonly personId?: string
}

/** What such a change still waits for; undefined: it is made. */
export type HoldApproverChange = (change: ApproverChange) => Promise<Accepted | Refusal | undefined>

/** Holds it where it concerns a step in force. The caller has verified who signed it; null: no one can sign yet. */
export const holdUntilApproved =
  (write: HeldWrite, signerId: string | null, context: Holding): HoldApproverChange =>
  async ({ concerns, changes, personId = null }) => {
    if (signerId === null) return undefined
    const policies = await policiesConcerned(concerns, context)
    return policies.length > 0
      ? holdChange({ write, changes, personId }, { policies, signerId }, context)
      : undefined
  }

/** Empty where no policy in force is concerned. */
export async function policiesConcerned(
  concerns: ApproverChange['concerns'],
  context: ReadContext,
): Promise<PolicySteps> {
  const inForce = (await readAskingPolicies(context)).map(({ steps }) => steps)
  return policiesToAsk(inForce.filter(steps => steps.some(concerns)))
}

type MaybeApprover = Pick<Approver, 'id'> & { readonly role: Approver['role'] | 'viewer' }

export const isAskedIn = (step: ApprovalStep, { id, role }: MaybeApprover): boolean =>
  role !== 'viewer' && isAskedBy(step, { id, role })
