import { z } from 'zod'
import { type Cents, cents, formatMoney, storedMoneySchema } from './money.ts'
import { patternTextSchema } from './schemas.ts'

/** The people whom a step asks: by their role, or by name. */
export const approverGroups = ['owners', 'approvers'] as const

export const MAX_APPROVAL_STEPS = 4
const MAX_NAMED = 20
/** The policies whose people can approve one change together. */
export const MAX_CHANGE_POLICIES = 20
export const MAX_CHANGE_STEPS = MAX_CHANGE_POLICIES * MAX_APPROVAL_STEPS
/** With four steps, the proof of all of them is at most some 60 kB. */
const MAX_NEEDED = 5
const MAX_MINUTES = 30 * 24 * 60

/** Who does not exist is one person too few: the refusal says how many are needed. */
const personId = patternTextSchema(/^person_[0-9a-z]{26}$/, 33, 'the id of a person begins with person_')

const idsInWords = {
  error: ({ code }: z.core.$ZodRawIssue) =>
    code === 'invalid_type' ? 'must be an array of ids of people' : undefined,
}

const ApprovalStepRule = z
  .strictObject({
    aboveCents: storedMoneySchema.meta({
      description: 'The step is asked for amounts above this.',
      examples: [1000],
    }),
    of: z.union([z.enum(approverGroups), z.array(personId, idsInWords).min(1).max(MAX_NAMED)]).meta({
      description: '`owners`, `approvers` (approvers and owners), or people by their ids.',
      examples: ['owners'],
    }),
    need: z.int().min(1).max(MAX_NEEDED).meta({ description: 'How many of them must approve.' }),
    withinMinutes: z.int().min(1).max(MAX_MINUTES).meta({ description: 'How long the step waits for them.' }),
    then: z.enum(['next', 'deny']).meta({
      description:
        'If the step is not complete by then: `next` asks the people of the next step as well, `deny` denies. The last step denies.',
    }),
  })
  .meta({ id: 'ApprovalStep' })

/** `aboveCents` has the digits of the cents, as it is stored. */
export type ApprovalStep = z.output<typeof ApprovalStepRule>

export const approvalStepsSchema = z.array(ApprovalStepRule).max(MAX_APPROVAL_STEPS).default([]).meta({
  description:
    'Steps of approvals with a passkey. Those whose amount is exceeded are asked in this order, and a person’s approval counts in one of them. Who made the request does not count. Empty: one person approves.',
})

const aboveOf = ({ aboveCents }: ApprovalStep): Cents => cents(aboveCents)

export const isStepAsked = (step: ApprovalStep, amount: Cents): boolean => amount > aboveOf(step)

export const asksForSteps = (steps: readonly ApprovalStep[], amount: Cents): boolean =>
  steps.some(step => isStepAsked(step, amount))

/** What contradicts itself in the steps: the place within them, and what to write. */
export function approvalStepProblem(
  steps: readonly ApprovalStep[],
): { readonly path: readonly (string | number)[]; readonly message: string } | undefined {
  for (const [place, step] of steps.entries()) {
    const next = steps[place + 1]
    if (!next && step.then === 'next')
      return { path: [place, 'then'], message: 'there is no next step: the last one must deny' }
    if (next && aboveOf(next) < aboveOf(step))
      return {
        path: [place + 1, 'aboveEuros'],
        message: 'each step is for amounts at least as high as the one before it',
      }
    if (Array.isArray(step.of) && new Set(step.of).size < step.of.length)
      return { path: [place, 'of'], message: 'a person is named twice: name each once' }
  }
  return undefined
}

const inTime = (minutes: number): string => {
  if (minutes % 1_440 === 0) return minutes === 1_440 ? 'a day' : `${minutes / 1_440} days`
  if (minutes % 60 === 0) return minutes === 60 ? 'an hour' : `${minutes / 60} hours`
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

const groupInWords = (
  { of, need }: ApprovalStep,
  namedInWords: (ids: readonly string[]) => string,
): string => {
  if (of === 'owners') return need === 1 ? 'an owner' : `${need} owners`
  if (of === 'approvers') return need === 1 ? 'an approver' : `${need} approvers`
  return `${need} of ${namedInWords(of)}`
}

const countOfNamed = (ids: readonly string[]): string =>
  `${ids.length} named ${ids.length === 1 ? 'person' : 'people'}`

function stepInWords(step: ApprovalStep, people: string): string {
  const { then, withinMinutes } = step
  const otherwise = then === 'deny' ? 'deny' : 'ask the next step as well'
  return `above ${formatMoney(aboveOf(step))}: ${people} within ${inTime(withinMinutes)}, else ${otherwise}`
}

/** `above € 1,000.00: 2 owners within 4 hours, else deny`. */
export const approvalStepInWords = (step: ApprovalStep): string =>
  stepInWords(step, groupInWords(step, countOfNamed))

/** As people sign it: with the ids of those who are named. */
export const statedApprovalStep = (step: ApprovalStep): string =>
  stepInWords(
    step,
    groupInWords(step, ids => `(${ids.join(', ')})`),
  )

const isSameGroup = (one: ApprovalStep['of'], other: ApprovalStep['of']): boolean =>
  String(one) === String(other)

/** Whether no one else may approve in this step than in the other. */
const isWithin = (of: ApprovalStep['of'], others: ApprovalStep['of']): boolean =>
  others === 'approvers' || of === others || (Array.isArray(of) && of.every(id => others.includes(id)))

/** A step that passes its approvals on sooner is looser, and one that denies sooner is not. */
const isAsStrict = (before: ApprovalStep, after: ApprovalStep): boolean =>
  isWithin(after.of, before.of) &&
  after.need >= before.need &&
  aboveOf(after) <= aboveOf(before) &&
  (after.then === 'deny'
    ? after.withinMinutes <= before.withinMinutes
    : after.then === before.then && after.withinMinutes === before.withinMinutes)

/** Whether less is asked of people than before: each step of before must still be there, and be as strict. */
export const areStepsEased = (before: readonly ApprovalStep[], after: readonly ApprovalStep[]): boolean =>
  before.some((step, place) => {
    const same = after[place]
    return same === undefined || !isAsStrict(step, same)
  })

/**
 * Whether people must approve the change of the steps: less is asked of them, or others are asked. The people of each step also
 * decide about changes, so whom a step asks instead, or a new one, could stop them all.
 */
export function areStepsLoosened(before: readonly ApprovalStep[], after: readonly ApprovalStep[]): boolean {
  const asksOthers = ({ of }: ApprovalStep, place: number) => {
    const step = before[place]
    return !(step ? [step] : before).some(one => isSameGroup(one.of, of))
  }
  return before.length > 0 && (areStepsEased(before, after) || after.some(asksOthers))
}
