import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import { Accepted, type Refusal } from '../../kernel/contract/problem.ts'
import { question } from '../../kernel/contract/question.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { type ApprovalStep, MAX_CHANGE_STEPS } from '../../values/approval-steps.ts'
import { addMs } from '../../values/clock.ts'
import { peopleInWords, readApproversAndDeputies } from './approvers.ts'
import {
  CHANGE_AMOUNT,
  CHANGE_REQUEST_TTL_MS,
  ChangeRequest,
  changeRequestEvent,
  changeRequestResponse,
  type HeldWrite,
  MAX_WAITING_CHANGES,
} from './change-request.ts'
import type { bySeveral } from './change-schemas.ts'
import {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  beginEachStep,
  giveApproval,
  isAskedBy,
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
  readonly steps: readonly ApprovalStep[]
  /** Who has signed the change by asking for it. */
  readonly signerId: string | null
}

/** Keeps a change until the people of all these steps have signed it. Undefined: they have, and it is made. */
export async function holdChange(
  change: HeldChange,
  { steps, signerId }: Signing,
  context: Holding,
): Promise<Accepted | Refusal | undefined> {
  const { sql, tenant, now, refuse } = context
  const approvers = await readApproversAndDeputies(sql, { tenant, now })
  if (steps.length > MAX_CHANGE_STEPS) return refuse('too_few_approvers', tooManyGroups(steps.length))
  const few = tooFewForChange(steps, approvers)
  if (few) return refuse('too_few_approvers', few)
  const begun = beginEachStep(steps, now)
  const counts = signerId !== null && whyNotAsked(begun, approvers, signerId) === undefined
  const approval = counts ? giveApproval(begun, approvers, { personId: signerId, now }) : begun
  const { outcome } = advanceApproval(approval, CHANGE_AMOUNT, { approvers, now })
  return outcome === 'approved' ? undefined : propose(change, approval, context)
}

const tooManyGroups = (count: number): string =>
  `The policies that ask people name ${count} different groups of them, and at most ${MAX_CHANGE_STEPS} can approve a change together. Have some of these policies ask the same people first.`

function tooFewForChange(steps: readonly ApprovalStep[], approvers: readonly Approver[]): string | undefined {
  const ableIn = (step: ApprovalStep) => approvers.filter(approver => isAskedBy(step, approver)).length
  const short = steps.find(step => ableIn(step) < step.need)
  return (
    short &&
    `${peopleInWords(short.need)} must approve this, as a policy with steps asks, and ${ableIn(short)} of those whom it asks can. Without them, only the end of the agents with such policies frees it: DELETE /agents/{id}.`
  )
}

async function propose(
  { write, changes, policyId = null, agentId = null, personId = null }: HeldChange,
  approval: ApprovalProgress,
  { em, actor, now, emit, refuse }: Holding,
): Promise<Accepted | Refusal> {
  const waiting = await em.count(ChangeRequest, { status: 'waiting', expiresAt: { $gt: now } })
  if (waiting >= MAX_WAITING_CHANGES) return refuse('too_many_changes')
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
  return new Accepted(changeRequestResponse(change, now))
}

const proposerOf = ({ type, id, name }: Actor) => ({ type, id, name: name ?? null })

type Steps = readonly ApprovalStep[]

const peopleOf = ({ of }: ApprovalStep): ApprovalStep['of'] => (typeof of === 'string' ? of : of.toSorted())

/** Whether who approves for the other step approves for this one as well. */
const isCoveredBy = (step: ApprovalStep, other: ApprovalStep): boolean => {
  if (other === step || other.need < step.need) return false
  const { of } = step
  return of === 'approvers' || (Array.isArray(other.of) && other.of.every(id => of.includes(id)))
}

/**
 * Who decides about changes under these policies: the people of the highest step of each. More people of one policy do not stand
 * for those of another, since who makes a policy chooses whom it asks.
 */
export function stepsOfChanges(policies: readonly Steps[]): ApprovalStep[] {
  const highest = policies.flatMap(steps => steps.at(-1) ?? [])
  const byPeople = Map.groupBy(highest, step => String(peopleOf(step)))
  const steps = [...byPeople.keys()].toSorted().flatMap(people => {
    const [most] = (byPeople.get(people) ?? []).toSorted((one, other) => other.need - one.need)
    const withinMinutes = CHANGE_REQUEST_TTL_MS / 60_000
    return most ? { ...most, of: peopleOf(most), aboveCents: '0', withinMinutes, then: 'deny' as const } : []
  })
  // More than that approve no change, so that it does not matter which are left out.
  if (steps.length > MAX_CHANGE_STEPS) return steps
  return steps.filter(step => !steps.some(other => isCoveredBy(step, other)))
}

/** The steps of the policies by which agents pay. */
export const stepsInForce = question<null, readonly Steps[]>('approvals.steps_in_force')

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
    const steps = await stepsConcerned(concerns, context)
    return steps.length > 0
      ? holdChange({ write, changes, personId }, { steps, signerId }, context)
      : undefined
  }

/** Empty where no policy in force is concerned. */
export async function stepsConcerned(
  concerns: ApproverChange['concerns'],
  context: ReadContext,
): Promise<ApprovalStep[]> {
  const inForce = (await context.service.ask(stepsInForce, null, context)).flat()
  return stepsOfChanges(inForce.filter(steps => steps.some(concerns)))
}

type MaybeApprover = Pick<Approver, 'id'> & { readonly role: Approver['role'] | 'viewer' }

export const isAskedIn = (step: ApprovalStep, { id, role }: MaybeApprover): boolean =>
  role !== 'viewer' && isAskedBy(step, { id, role })
