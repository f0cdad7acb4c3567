import type { DurableProcess } from '../../kernel/contract/process.ts'

export const onboardingProcess = {
  name: 'onboarding',
  title: 'Onboarding',
  details: `A company wants to move real money. The run waits until something can be checked about each representative, and then for the operator; with \`KYC_PROVIDER=none\` the review approves it. A question without an answer for thirty days ends it.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it. Each representative must be verified.
- \`reject\` rejects it. The company reads the reason, which may not be left out.
- \`requestInformation\` asks the company for what the reason says.

In live mode, and where \`KYC_PROVIDER\` is \`manual\` or \`none\`, they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /onboarding/{id}/approve\`.`,
} as const satisfies DurableProcess

export type OnboardingSignal = 'approve' | 'reject' | 'requestInformation'
