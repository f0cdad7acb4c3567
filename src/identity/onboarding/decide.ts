import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { after } from '../../values/clock.ts'
import { end, review, wakeProcess } from './advance.ts'
import type { onboardingApi } from './api.ts'
import { ANSWER_WITHIN_MS, endedWords, isOpen, MAX_ROUNDS, onboardingMachine } from './company-onboarding.ts'
import { missingIdentities } from './company-people.ts'
import { lockSubmission, onboardingEvent, onboardingResponse } from './find.ts'

export const requestInformation: HandlerOf<typeof onboardingApi.requestInformation> = async (
  { params, body },
  context,
) => {
  const { emit, refuse } = context
  const submission = await lockSubmission(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding } = submission
  if (!isOpen(onboarding)) return refuse('onboarding_ended', endedWords(onboarding))
  if (onboarding.status === 'needs_information') return refuse('answer_awaited')
  if (onboarding.informationRequests.length >= MAX_ROUNDS) return refuse('too_many_questions')
  onboardingMachine.move(onboarding, 'needs_information')
  // In the owner's time, which is known once the onboarding is found.
  const { now } = context
  const expiresAt = after(now, ANSWER_WITHIN_MS)
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
  wakeProcess(submission, context)
  return onboardingResponse(submission)
}

/**
 * If every representative is verified, an approval first moves the onboarding into review, in case its run
 * has not done so yet.
 */
export const approve: HandlerOf<typeof onboardingApi.approve> = async ({ params, body }, context) => {
  const { refuse } = context
  const submission = await lockSubmission(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding, representatives } = submission
  if (!isOpen(onboarding)) return refuse('onboarding_ended', endedWords(onboarding))
  if (body.updatedAt && body.updatedAt.getTime() !== onboarding.updatedAt.getTime())
    return refuse('onboarding_changed')
  if (onboarding.status === 'needs_information') return refuse('answer_awaited')
  const missing = missingIdentities(representatives)
  if (missing.length > 0)
    return refuse(
      'identities_missing',
      `Not every representative is verified. Missing: ${missing.join('; ')}.`,
    )
  review(submission, context)
  end(submission, 'approved', context)
  return onboardingResponse(submission)
}

export const reject: HandlerOf<typeof onboardingApi.reject> = async ({ params, body }, context) => {
  const { refuse } = context
  const submission = await lockSubmission(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding } = submission
  if (!end(submission, 'rejected', context)) return refuse('onboarding_ended', endedWords(onboarding))
  onboarding.reason = body.reason
  return onboardingResponse(submission)
}
