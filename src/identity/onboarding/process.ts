import type { Process } from '../../kernel/contract/process.ts'

/** Begins with the submission; ends when it is approved, rejected, withdrawn or expired. */
export const onboardingProcess = {
  name: 'onboarding',
  title: 'Onboarding',
  details: `A company wants to move real money. The run waits until something can be checked about each representative, and then for the operator. A question that nobody answers within thirty days ends it.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it. Each representative must be verified.
- \`reject\` rejects it. The company reads the reason, which may not be left out.
- \`requestInformation\` asks the company for what the reason says.

In live mode, and where \`KYC_PROVIDER\` is \`manual\`, they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /onboarding/{id}/approve\`.`,
} as const satisfies Process

/** The signals that operators send from the Web UI or the command line, and what each does. */
export const onboardingSignals = {
  approve: 'Approves the onboarding, where each representative is verified.',
  reject: 'Rejects the onboarding. The reason is shown to the company.',
  requestInformation: 'Asks the company for what the reason says.',
} as const
export type OnboardingSignal = keyof typeof onboardingSignals
