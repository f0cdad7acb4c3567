import { isDeepStrictEqual } from 'node:util'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { type ApprovalStep, areStepsEased, asksForSteps } from '../../values/approval-steps.ts'
import { clock } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import type { Cents } from '../../values/money.ts'
import { readApproversAndDeputies } from './approvers.ts'
import {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  beginApproval,
  type Circumstances,
  dropApprovals,
  giveApproval,
  hasLostApprovers,
  nextOfApproval,
  stepEndsAt,
  tightenApproval,
  whyNotAsked,
} from './progress.ts'
import { approvalCountInWords, approverRefusalCodes } from './response.ts'

/** What a record has whose approval several people give. */
interface WaitingRequest {
  approval: ApprovalProgress | null
  /** When its run looks at it next. */
  approvalDueAt: Date | null
  /** Who made it: their approval does not count. */
  requesterId: string | null
}

/** How far the approvals have come by the present policy: where its steps ask less than before, or others, they begin anew. */
export function approvalProgressOf(
  { approval, requesterId }: Readonly<Pick<WaitingRequest, 'approval' | 'requesterId'>>,
  amount: Cents,
  { steps, now }: { readonly steps: readonly ApprovalStep[]; readonly now: Date },
): ApprovalProgress | undefined {
  if (!asksForSteps(steps, amount)) return undefined
  if (approval && isDeepStrictEqual(approval.steps, steps)) return approval
  if (approval && !areStepsEased(approval.steps, steps)) return tightenApproval(approval, steps, amount)
  return beginApproval(steps, amount, { now, requesters: requesterId ? [requesterId] : [] })
}

/** Too few people, or what the clock brings next: the run looks at it then. */
const dueAt = (progress: ApprovalProgress, { approvers, now }: Circumstances): Date =>
  hasLostApprovers(progress, approvers) ? now : nextOfApproval(progress).at

export const setApproval = (
  request: Pick<WaitingRequest, 'approval' | 'approvalDueAt'>,
  progress: ApprovalProgress,
  circumstances: Circumstances,
): void => {
  Object.assign(request, { approval: progress, approvalDueAt: dueAt(progress, circumstances) })
}

/**
 * Makes all requests of a tenant, or of some agents, due that wait for several people, and gives them for their runs to be
 * woken. A transaction that has locked people and passkeys does not wait for a request, since who holds one may wait for a
 * passkey: the run alone ends the step of that one.
 */
export const makeAllDueSql = (table: string, waiting: string): string => `
with waiting as (
  select id, agent_id from ${table}
  where owner_id = $1 and mode = $2 and status = '${waiting}' and approval_due_at is not null
    and ($4::text[] is null or agent_id = any($4))),
free as (
  select id from ${table}
  where owner_id = $1 and mode = $2 and status = '${waiting}' and approval_due_at is not null
    and ($4::text[] is null or agent_id = any($4))
  order by id for no key update skip locked),
made_due as (
  update ${table} set approval_due_at = $3 from free
  where owner_id = $1 and mode = $2 and ${table}.id = free.id)
select id, agent_id as "agentId" from waiting order by id`

interface ApprovalsToFollow extends Circumstances {
  readonly approvalDueAt: Date | null
  readonly steps: readonly ApprovalStep[]
}

/** What the run does next about the approvals, and when, by the present steps of the policy; with their count in words. */
export function nextOfWaiting(
  approval: ApprovalProgress,
  amount: Cents,
  { approvalDueAt, approvers, steps, now }: ApprovalsToFollow,
) {
  const byClock = nextOfApproval(approval)
  // Made due before its time: people or policies have changed. The step that ends sets the time again.
  const isMadeDue = approvalDueAt !== null && approvalDueAt <= now && byClock.at > now
  const isOver =
    isMadeDue || !isDeepStrictEqual(approval.steps, steps) || hasLostApprovers(approval, approvers)
  const { at, what } = isOver ? { at: now, what: 'end' as const } : byClock
  return {
    at,
    what,
    inWords: approvalCountInWords(approval, amount, { until: formatMinute(stepEndsAt(approval)), approvers }),
  }
}

/** Why an approval does not count; `step_ended`: the request is being denied. */
export type UncountedApproval =
  | (typeof approverRefusalCodes)[keyof typeof approverRefusalCodes]
  | 'step_ended'

function problemOf(
  { outcome, progress }: ReturnType<typeof advanceApproval>,
  approvers: readonly Approver[],
  personId: string,
): UncountedApproval | undefined {
  if (outcome === 'denied') return 'step_ended'
  const why = whyNotAsked(progress, approvers, personId)
  return why && approverRefusalCodes[why]
}

/** Why this person’s approval would not count; undefined if it would. */
export const approverProblem = (
  progress: ApprovalProgress,
  amount: Cents,
  { personId, ...circumstances }: Circumstances & { readonly personId: string },
): UncountedApproval | undefined =>
  problemOf(
    advanceApproval(dropApprovals(progress, circumstances.approvers), amount, circumstances),
    circumstances.approvers,
    personId,
  )

/** Whether an approval of this person would count now, also as a deputy. */
export async function isAskedNow(
  approval: ApprovalProgress,
  personId: string,
  { sql, tenant }: SqlContext,
): Promise<boolean> {
  const now = clock.tenant(await readClockOffset(sql, tenant))
  const approvers = await readApproversAndDeputies(sql, { tenant, now })
  return whyNotAsked(dropApprovals(approval, approvers), approvers, personId) === undefined
}

export interface CountedApproval {
  readonly progress: ApprovalProgress
  readonly isComplete: boolean
  /** Whether it was the last of its step, and the people of the next one are asked. */
  readonly beginsStep: boolean
  /** Whether the people of a later step were asked before their turn. */
  readonly hasEscalated: boolean
}

/** Counts the approval of a person whose signature is genuine, or says why it does not count. */
export function addApproval(
  progress: ApprovalProgress,
  amount: Cents,
  { personId, approvers, now }: Circumstances & { readonly personId: string },
): CountedApproval | UncountedApproval {
  const kept = dropApprovals(progress, approvers)
  const before = advanceApproval(kept, amount, { approvers, now })
  const problem = problemOf(before, approvers, personId)
  if (problem) return problem
  const given = giveApproval(before.progress, approvers, { personId, now })
  const after = advanceApproval(given, amount, { approvers, now })
  return {
    progress: after.progress,
    isComplete: after.outcome === 'approved',
    beginsStep: after.progress.position > given.position,
    hasEscalated: before.hasEscalated || after.hasEscalated,
  }
}
