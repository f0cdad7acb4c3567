import type { Process } from '../../kernel/contract/process.ts'

/** The name that the deadline needs. No workflow runs for a checkout session. */
export const checkoutSessionProcess = { name: 'checkout-session' } as const satisfies Process
