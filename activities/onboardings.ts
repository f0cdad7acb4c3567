import {
  advanceOnboarding,
  onboardingApi,
  onboardingStatus,
  onboardingSteps,
} from '../src/identity/onboarding/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type OnboardingActivities = ReturnType<typeof onboardingActivities>

export const onboardingActivities = ({ read, decide, transaction, systems }: ActivityTools) => {
  // Outside the sandbox companies are real, and an onboarding of test mode opens live keys too.
  const rules = { openLiveMoney: () => systems.identityVerification().name !== 'sandbox' }
  const readOnboarding = (ref: RecordRef) => read(ref, context => onboardingStatus(ref.id, context), rules)
  return {
    readOnboarding,

    answerOnboarding: decide(
      {
        approve: { operation: onboardingApi.approve, body: () => ({}) },
        reject: {
          operation: onboardingApi.reject,
          body: (_by, comment) => (comment ? { reason: comment } : {}),
        },
        requestInformation: {
          operation: onboardingApi.requestInformation,
          body: (_by, comment) => ({ questions: comment ? [comment] : [] }),
        },
      },
      rules,
    ),

    async advanceOnboarding(ref: RecordRef) {
      await transaction(ref, onboardingSteps.advance, tx => advanceOnboarding(ref.id, tx))
      return readOnboarding(ref)
    },
  }
}
