import { z } from 'zod'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import {
  approvalStepsSchema,
  approverGroups,
  isStepAsked,
  MAX_CHANGE_STEPS,
} from '../../values/approval-steps.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import type { Cents } from '../../values/money.ts'
import { readApprovers } from './approvers.ts'
import { type ApprovalProgress, type Approver, awaitedBy, stepEndsAt } from './progress.ts'

/** Why the approval of a person does not count, where several are asked. */
export const approverRefusals = {
  own_request: [403, 'You have asked for this yourself: other people must approve it.'],
  already_approved: [
    400,
    'Your approval, or that of the person whose deputy you are, is given already. It waits for other people.',
  ],
  approver_not_asked: [403, 'You are not asked now: `approval.awaits` of the record says who is.'],
} as const satisfies Record<string, RefusalSpec>

/** The refusal by the reason of `whyNotAsked`. */
export const approverRefusalCodes = {
  requester: 'own_request',
  given: 'already_approved',
  not_asked: 'approver_not_asked',
} as const

const count = (description: string) => z.int().min(0).meta({ description })

export const ApprovalProgressRecord = z
  .object({
    given: count('Approvals given.'),
    needed: count('Approvals that all steps of this amount need.'),
    step: z.int().min(1).max(MAX_CHANGE_STEPS).meta({ description: 'The step that is asked now.' }),
    steps: z.array(approvalStepsSchema.unwrap().element).max(MAX_CHANGE_STEPS).meta({
      description:
        'The steps of the policy. Of a change: those of each policy; all are asked at once, and an approval counts in one step of each policy, so that with several policies fewer than `needed` can be enough.',
    }),
    awaits: z.array(z.union([z.enum(approverGroups), id('person')])).meta({
      description: 'The roles or people who are asked now. Empty once it has ended.',
      examples: [['owners']],
    }),
    endsAt: instant.nullable().meta({ description: 'When the time of the step ends.' }),
    approvals: z.array(
      z.object({
        personId: id('person').meta({ description: 'Who signed.' }),
        inPlaceOf: id('person').nullable().meta({
          description: 'The person whose approval it is, if a deputy signed.',
        }),
        at: instant,
      }),
    ),
  })
  .meta({ id: 'ApprovalProgress' })

/** What an event about the approvals says. */
export const approvalEventMembers = {
  given: z.int().meta({ description: 'How many approvals were given.' }),
  needed: z.int().meta({ description: 'How many are needed.' }),
  step: z.int().meta({ description: 'The step that is asked now.' }),
  beginsStep: z
    .boolean()
    .optional()
    .meta({ description: 'The step has just begun: other people are asked.' }),
}

/** What all steps of this amount need together. */
const neededOf = ({ steps }: ApprovalProgress, amount: Cents): number =>
  steps.filter(step => isStepAsked(step, amount)).reduce((sum, { need }) => sum + need, 0)

const namedInWords = (count: number): string => (count === 1 ? 'a named person' : `${count} named people`)

/** `1 of 2, owners until 28 Nov 17:00 UTC, then deny`: a run shows it, without names. */
export function approvalCountInWords(
  progress: ApprovalProgress,
  amount: Cents,
  open?: { readonly until: string; readonly approvers: readonly Approver[] },
): string {
  const count = `${progress.given.length} of ${neededOf(progress, amount)}`
  if (open === undefined) return count
  const { until, approvers } = open
  const awaited = awaitedBy(progress, approvers)
  const groups = awaited.filter(one => approverGroups.some(group => group === one))
  const named = awaited.length - groups.length
  const who = [...groups, ...(named > 0 ? [namedInWords(named)] : [])].join(' and ')
  const otherwise = progress.steps[progress.position]?.then === 'next' ? 'then the next step' : 'then deny'
  return `${count}, ${[who, `until ${until}`].filter(Boolean).join(' ')}, ${otherwise}`
}

interface Shown {
  readonly amountCents: Cents
  readonly isOpen: boolean
  /** The people who may approve now; of no matter once it has ended. */
  readonly approvers: readonly Approver[]
}

/** The people of whom a page of records says that they can approve now. Queries nothing where none of these waits for several. */
export const readAskedApprovers = async (
  records: readonly { readonly approval: ApprovalProgress | null; readonly status: string }[],
  waiting: string,
  { sql, tenant }: SqlContext,
): Promise<readonly Approver[]> =>
  records.some(({ approval, status }) => approval !== null && status === waiting)
    ? readApprovers(sql, tenant)
    : []

export const approvalProgressResponse = (
  progress: ApprovalProgress,
  { amountCents, isOpen, approvers }: Shown,
) => ({
  ...approvalEventCounts(progress, amountCents),
  steps: [...progress.steps],
  awaits: isOpen ? awaitedBy(progress, approvers) : [],
  endsAt: isOpen ? stepEndsAt(progress) : null,
  approvals: progress.given.map(({ personId, inPlaceOf = null, at }) => ({
    personId,
    inPlaceOf,
    at: new Date(at),
  })),
})

export const approvalEventCounts = (progress: ApprovalProgress, amount: Cents) => ({
  given: progress.given.length,
  needed: neededOf(progress, amount),
  step: progress.position + 1,
})

/** Why a step has denied: it was not complete in time, or could not become so. */
export const deniedInWords = (progress: ApprovalProgress, amount: Cents): string =>
  `Too few people have approved in time, or are left who can: ${approvalCountInWords(progress, amount)}.`
