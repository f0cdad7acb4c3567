import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { addMs } from '../../values/clock.ts'
import { approveSubmission, beginOnboardingReview, endOnboarding, wakeOnboardingProcess } from './advance.ts'
import type { onboardingApi } from './api.ts'
import {
  isOnboardingOpen,
  MAX_QUESTION_ROUNDS,
  ONBOARDING_ANSWER_TTL_MS,
  onboardingEndedMessage,
  onboardingMachine,
} from './company-onboarding.ts'
import { missingIdentityMessages } from './company-people.ts'
import { lockOnboarding, onboardingEvent, onboardingResponse } from './find.ts'

export const requestOnboardingInformation: HandlerOf<typeof onboardingApi.requestInformation> = async (
  { params, body },
  context,
) => {
  const { emit, refuse } = context
  const submission = await lockOnboarding(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding } = submission
  if (!isOnboardingOpen(onboarding)) return refuse('onboarding_ended', onboardingEndedMessage(onboarding))
  if (onboarding.status === 'needs_information') return refuse('answer_awaited')
  if (onboarding.informationRequests.length >= MAX_QUESTION_ROUNDS) return refuse('too_many_questions')
  onboardingMachine.move(onboarding, 'needs_information')
  // In the owner's time, which is known once the onboarding is found.
  const { now } = context
  const expiresAt = addMs(now, ONBOARDING_ANSWER_TTL_MS)
  onboarding.dueAt = expiresAt
  onboarding.informationRequests = [
    ...onboarding.informationRequests,
    {
      questions: body.questions,
      requestedAt: now.toISOString(),
      expiresAt: expiresAt.toISOString(),
      answeredAt: null,
      answer: null,
    },
  ]
  emit('onboarding.information_requested', { ...onboardingEvent(submission), expiresAt })
  wakeOnboardingProcess(submission, context)
  return onboardingResponse(submission)
}

/**
 * If every representative is verified, an approval first moves the onboarding into review, in case its run
 * has not done so yet.
 */
export const approveOnboarding: HandlerOf<typeof onboardingApi.approve> = async (
  { params, body },
  context,
) => {
  const { refuse } = context
  const submission = await lockOnboarding(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding, representatives } = submission
  if (!isOnboardingOpen(onboarding)) return refuse('onboarding_ended', onboardingEndedMessage(onboarding))
  if (body.updatedAt && body.updatedAt.getTime() !== onboarding.updatedAt.getTime())
    return refuse('onboarding_changed')
  if (onboarding.status === 'needs_information') return refuse('answer_awaited')
  const missing = missingIdentityMessages(representatives)
  if (missing.length > 0)
    return refuse(
      'identities_missing',
      `Not every representative is verified. Missing: ${missing.join('; ')}.`,
    )
  beginOnboardingReview(submission, context)
  approveSubmission(submission, 'operator', context)
  return onboardingResponse(submission)
}

export const rejectOnboarding: HandlerOf<typeof onboardingApi.reject> = async ({ params, body }, context) => {
  const { refuse } = context
  const submission = await lockOnboarding(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding } = submission
  if (!endOnboarding(submission, 'rejected', context))
    return refuse('onboarding_ended', onboardingEndedMessage(onboarding))
  Object.assign(onboarding, { reason: body.reason, decidedBy: 'operator' })
  return onboardingResponse(submission)
}
