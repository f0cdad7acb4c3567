import type { EmitContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { formatMinute } from '../../values/clock.ts'
import type { onboardingStepsApi } from './api.ts'
import {
  isOnboardingOpen,
  Onboarding,
  type OnboardingDecider,
  type OnboardingStatus,
  onboardingMachine,
  openInformationRequest,
} from './company-onboarding.ts'
import { areIdentitiesSubmitted, missingIdentityMessages } from './company-people.ts'
import { lockOnboarding, type OnboardingWithPeople, onboardingEvent } from './find.ts'
import { type OnboardingSignal, onboardingProcess } from './process.ts'
import type { onboardingEvents } from './schemas.ts'

/** Run and sweep may both call this, also late. Each call does what is still due. */
export const advanceOnboarding: HandlerOf<typeof onboardingStepsApi.advance> = async (
  { params },
  context,
) => {
  const submission = await lockOnboarding(params.id, context)
  if (!submission) return context.refuse('onboarding_not_found')
  const { onboarding, representatives } = submission
  const { status, dueAt } = onboarding
  if (dueAt === null || dueAt > context.now) return { done: true }
  if (status === 'submitted' && areIdentitiesSubmitted(representatives)) {
    beginOnboardingReview(submission, context)
    approveWithoutOperator(submission, context)
  }
  if (status === 'needs_information') endOnboarding(submission, 'expired', context)
  return { done: true }
}

/** With `KYC_PROVIDER=none` the one customer operates the installation. */
function approveWithoutOperator(
  submission: OnboardingWithPeople,
  context: ContextOf<typeof onboardingStepsApi.advance>,
): void {
  const { decider } = context.ports.identityVerification()
  if (decider === 'installation' && missingIdentityMessages(submission.representatives).length === 0)
    approveSubmission(submission, decider, context)
}

export const onboardingProcessStatus: HandlerOf<typeof onboardingStepsApi.status> = async (
  { params },
  { records, now, refuse },
) => {
  const onboarding = await records.findOne(Onboarding, { id: params.id })
  return onboarding ? processStatusOf(onboarding, now) : refuse('onboarding_not_found')
}

/** Temporal stores this summary of the run, so it names neither the company nor its people. */
const summaryOf = ({ ownerId, mode, status }: Onboarding): string =>
  `Onboarding of ${ownerId} in ${mode} mode: ${status.replace('_', ' ')}`

function waitsFor(onboarding: Onboarding): string {
  if (onboarding.status === 'submitted') return 'for the identity of each representative to be sent'
  if (onboarding.status === 'in_review') return 'for the operator to decide'
  const until = openInformationRequest(onboarding)?.expiresAt
  return `for the company’s answer, until ${formatMinute(new Date(until ?? 0))}`
}

const signalsOf = ({ status }: Onboarding): OnboardingSignal[] => {
  if (status === 'needs_information') return ['reject']
  return status === 'in_review'
    ? ['approve', 'reject', 'requestInformation']
    : ['reject', 'requestInformation']
}

function processStatusOf(onboarding: Onboarding, now: Date) {
  const closed = !isOnboardingOpen(onboarding)
  return {
    status: onboarding.status,
    summary: summaryOf(onboarding),
    closed,
    dueInMs: onboarding.dueAt && onboarding.dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(onboarding),
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
