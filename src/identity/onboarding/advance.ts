import type { EmitContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { formatMinute } from '../../values/minute.ts'
import type { onboardingSteps } from './api.ts'
import {
  isOnboardingOpen,
  Onboarding,
  type OnboardingDecider,
  type OnboardingStatus,
  onboardingMachine,
  openInformationRequest,
} from './company-onboarding.ts'
import { areIdentitiesSubmitted, missingIdentityMessages } from './company-people.ts'
import { lockOwnOnboarding, type OnboardingWithPeople, onboardingEvent } from './find.ts'
import { type OnboardingSignal, onboardingProcess } from './process.ts'
import type { onboardingEvents } from './schemas.ts'

type Advancing = WriteContext<(typeof onboardingSteps.advance)['emits']>

/** Begins the review, or ends what was not answered in time: what is still due, also late. */
export async function advanceOnboarding(id: string, context: Advancing): Promise<void> {
  const submission = await lockOwnOnboarding(id, context)
  if (!submission) return
  const { onboarding, representatives } = submission
  const { status, dueAt } = onboarding
  if (dueAt === null || dueAt > context.now) return
  if (status === 'submitted' && areIdentitiesSubmitted(representatives)) {
    beginOnboardingReview(submission, context)
    approveWithoutOperator(submission, context)
  }
  if (status === 'needs_information') endOnboarding(submission, 'expired', context)
}

/** With `KYC_PROVIDER=none` the one customer operates the installation. */
function approveWithoutOperator(submission: OnboardingWithPeople, context: Advancing): void {
  const { decider } = context.systems.identityVerification()
  if (decider === 'installation' && missingIdentityMessages(submission.representatives).length === 0)
    approveSubmission(submission, decider, context)
}

/** Temporal stores this summary of the run, so it names neither the company nor its people. */
const summaryOf = ({ ownerId, mode, status }: Onboarding): string =>
  `Onboarding of ${ownerId} in ${mode} mode: ${status.replace('_', ' ')}`

const signalsOf = ({ status }: Onboarding): OnboardingSignal[] => {
  if (status === 'needs_information') return ['reject']
  return status === 'in_review'
    ? ['approve', 'reject', 'requestInformation']
    : ['reject', 'requestInformation']
}

/** What the run of an onboarding reads. */
export async function onboardingStatus(id: string, { em, now }: ReadContext) {
  const onboarding = await em.findOne(Onboarding, { id })
  if (!onboarding) return undefined
  const closed = !isOnboardingOpen(onboarding)
  const { status, dueAt } = onboarding
  const answerBy = openInformationRequest(onboarding)?.expiresAt
  return {
    status,
    summary: summaryOf(onboarding),
    closed,
    dueInMs: dueAt && dueAt.getTime() - now.getTime(),
    deadline: answerBy === undefined ? null : formatMinute(new Date(answerBy)),
    signals: closed ? [] : signalsOf(onboarding),
  }
}

type Stepping<Name extends keyof typeof onboardingEvents> = EmitContext<Pick<typeof onboardingEvents, Name>>

export const wakeOnboardingProcess = ({ onboarding }: OnboardingWithPeople, { wake }: EmitContext): void =>
  wake(onboardingProcess, { id: onboarding.id, agentId: null })

export const scheduleOnboardingReview = (
  { onboarding, representatives }: OnboardingWithPeople,
  now: Date,
): void => {
  if (onboarding.status === 'submitted')
    onboarding.dueAt = areIdentitiesSubmitted(representatives) ? now : null
}

export function beginOnboardingReview(
  submission: OnboardingWithPeople,
  context: Stepping<'onboarding.in_review'>,
): boolean {
  const { onboarding } = submission
  if (!onboardingMachine.move(onboarding, 'in_review')) return false
  onboarding.dueAt = null
  context.emit('onboarding.in_review', onboardingEvent(submission))
  wakeOnboardingProcess(submission, context)
  return true
}

type Ending = Extract<OnboardingStatus, 'approved' | 'rejected' | 'withdrawn' | 'expired'>

export function endOnboarding<To extends Ending>(
  submission: OnboardingWithPeople,
  to: To,
  context: Stepping<`onboarding.${To}`>,
  more: object = {},
): boolean {
  const { onboarding } = submission
  if (!onboardingMachine.move(onboarding, to)) return false
  Object.assign(onboarding, { endedAt: context.now, dueAt: null })
  const emit = context.emit as (event: string, data: object) => void
  emit(`onboarding.${to}`, { ...onboardingEvent(submission), ...more })
  wakeOnboardingProcess(submission, context)
  return true
}

export function approveSubmission(
  submission: OnboardingWithPeople,
  decidedBy: OnboardingDecider,
  context: Stepping<'onboarding.approved'>,
): void {
  if (endOnboarding(submission, 'approved', context, { decidedBy }))
    submission.onboarding.decidedBy = decidedBy
}
