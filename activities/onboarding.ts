import type { OnboardingSignal } from '../src/identity/onboarding/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** The body of the operation behind each signal: what the operator writes as the reason. */
const bodyOf: Readonly<Record<OnboardingSignal, (comment: string | undefined) => object>> = {
  approve: () => ({}),
  reject: comment => (comment ? { reason: comment } : {}),
  requestInformation: comment => ({ questions: comment ? [comment] : [] }),
}

/** Each of them can be made again: what has been done is found done. */
export const onboardingActivities = (run: Run, settings: SignalSettings) => ({
  readOnboarding: async (input: ProcessInput): Promise<ProcessStatus> =>
    withSignalsThatCount(await readWith(run, 'onboarding.status', input, requestOf(input)), input, settings),

  answerOnboarding: (signalled: Signalled<OnboardingSignal>): Promise<string> =>
    decideWith(run, settings, signalled, {
      operation: `onboarding.${signalled.verb}`,
      requestId: requestOf(signalled),
      body: (_by, comment) => bodyOf[signalled.verb](comment),
    }),

  async advanceOnboarding(input: ProcessInput): Promise<void> {
    await run('onboarding.advance', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type OnboardingActivities = ReturnType<typeof onboardingActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:onboarding/${id}`
