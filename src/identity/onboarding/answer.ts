import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { onboardingApi } from './api.ts'
import { unlikelyBirth } from './births.ts'
import { applyChanges } from './change.ts'
import { endedWords, isOpen, openRequestOf } from './company-onboarding.ts'
import { lockSubmission } from './find.ts'
import { onboardingEvent, onboardingResponse } from './response.ts'
import { end, review } from './steps.ts'

/** The company answers: what it changes is changed, and the review goes on. */
export const update: HandlerOf<typeof onboardingApi.update> = async ({ params, body }, context) => {
  const { now, emit, refuse } = context
  const unlikely = unlikelyBirth(body, now)
  if (unlikely) return refuse('birth_unlikely', unlikely)
  const submission = await lockSubmission(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding } = submission
  if (!isOpen(onboarding)) return refuse('onboarding_ended', endedWords(onboarding))
  const asked = openRequestOf(onboarding)
  if (!asked) return refuse('nothing_asked')
  const answered = { ...asked, answeredAt: now.toISOString(), answer: body.answer ?? null }
  onboarding.informationRequests = [...onboarding.informationRequests.slice(0, -1), answered]
  const changed = applyChanges(submission, body, context)
  review(submission, context)
  emit('onboarding.updated', { ...onboardingEvent(submission), changed })
  return onboardingResponse(submission)
}

export const withdraw: HandlerOf<typeof onboardingApi.withdraw> = async ({ params }, context) => {
  const submission = await lockSubmission(params.id, context)
  if (!submission) return context.refuse('onboarding_not_found')
  if (!end(submission, 'withdrawn', context))
    return context.refuse('onboarding_ended', endedWords(submission.onboarding))
  return onboardingResponse(submission)
}
