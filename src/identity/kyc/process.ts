import type { DurableProcess } from '../../kernel/contract/process.ts'

export const kycProcess = {
  name: 'kyc',
  title: 'Identity check',
  details: `Hands the data and documents of a person to the provider of identity checks, once, and asks until it has decided. A provider that does not answer is asked again, from a minute apart to a day. The first final answer stands, whether it comes as an answer, as a notice, or from the operator.

No signal decides: a verified owner may make live keys. The operator decides with \`POST /kyc/submissions/{id}/approve\` or \`/reject\`, with the dashboard secret, at any time; with \`KYC_PROVIDER=manual\` only the operator does, and with \`none\` the submission is verified at once.`,
} as const satisfies DurableProcess
