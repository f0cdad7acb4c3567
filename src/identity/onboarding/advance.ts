import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { Onboarding } from './company-onboarding.ts'
import { lockSubmission } from './find.ts'
import { isComplete } from './missing.ts'
import { processStatusOf } from './status.ts'
import { end, review } from './steps.ts'
import type { onboardingSteps } from './steps-api.ts'

/** Process and sweep may both come, and late: each finds what is still to be done. */
export const advance: HandlerOf<typeof onboardingSteps.advance> = async ({ params }, context) => {
  const submission = await lockSubmission(params.id, context)
  if (!submission) return context.refuse('onboarding_not_found')
  const { onboarding, representatives } = submission
  const { status, dueAt } = onboarding
  if (dueAt === null || dueAt > context.now) return { done: true }
  if (status === 'submitted' && isComplete(representatives)) review(submission, context)
  if (status === 'needs_information') end(submission, 'expired', context)
  return { done: true }
}

export const status: HandlerOf<typeof onboardingSteps.status> = async (
  { params },
  { records, now, refuse },
) => {
  const onboarding = await records.findOne(Onboarding, { id: params.id })
  return onboarding ? processStatusOf(onboarding, now) : refuse('onboarding_not_found')
}
