import type { OnboardingActivities } from '../activities/onboarding.ts'
import { onboardingSignals } from '../src/identity/onboarding/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readOnboarding, answerOnboarding, advanceOnboarding } = stepsOf<OnboardingActivities>()({
  readOnboarding: { summary: 'How the onboarding stands' },
  answerOnboarding: { summary: 'What an operator has signalled' },
  advanceOnboarding: { summary: 'All that a review needs is there, or nobody has answered in time' },
})

/** A company is reviewed once its people have shown who they are; questions are answered in time, or it expires. */
export const onboarding = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readOnboarding,
    answers: answersTo(onboardingSignals, signalled => answerOnboarding({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ status }) => status === 'submitted',
        () => advanceOnboarding(input),
      )
      await record.during(
        ({ status }) => status === 'in_review',
        async () => undefined,
      )
      await record.during(
        ({ status }) => status === 'needs_information',
        () => advanceOnboarding(input),
      )
    },
  })
