import type { RecordProcess } from '../../kernel/contract/process.ts'

export const onboardingProcess = {
  name: 'onboarding',
  title: 'Onboarding',
  details: `A company wants to move real money. The run waits until something can be checked about each representative, and then for the operator; with \`KYC_PROVIDER=none\` the review approves it. A question without an answer for thirty days ends it.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it. Each representative must be verified.
- \`reject\` rejects it. The company reads the reason, which may not be left out.
- \`requestInformation\` asks the company for what the reason says.

In live mode, and where \`KYC_PROVIDER\` is \`manual\` or \`none\`, they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /onboarding/{id}/approve\`.`,
  read: { activity: 'readOnboarding', operation: 'onboarding.status', summary: 'Status of the onboarding' },
  decide: 'answerOnboarding',
  signals: {
    approve: {
      effect: 'Approves the onboarding if each representative is verified.',
      operation: 'onboarding.approve',
      body: () => ({}),
    },
    reject: {
      effect: 'Rejects the onboarding. The reason is shown to the company.',
      operation: 'onboarding.reject',
      body: (_by, comment) => (comment ? { reason: comment } : {}),
    },
    requestInformation: {
      effect: 'Asks the company for the information in the reason.',
      operation: 'onboarding.requestInformation',
      body: (_by, comment) => ({ questions: comment ? [comment] : [] }),
    },
  },
  opensLiveMoney: true,
  steps: {
    advanceOnboarding: {
      operation: 'onboarding.advance',
      summary: 'Begin the review, or end what was not answered in time',
    },
  },
} as const satisfies RecordProcess

export type OnboardingSignal = keyof typeof onboardingProcess.signals
