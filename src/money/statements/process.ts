import type { DurableProcess, ProcessInput } from '../../kernel/contract/process.ts'

export const statementsProcess = {
  name: 'statements',
  title: 'Statements',
  details: `Draws up the statements that are missing of months that are over, page by page through the wallets. What is made is not made again.

No signal decides here. A page that fails is tried again, and *Request Cancellation* changes nothing.`,
  recurs: true,
  isReport: true,
} as const satisfies DurableProcess

/** Without an owner, it covers all tenants. */
export interface StatementRunInput extends Partial<Pick<ProcessInput, 'ownerId' | 'mode'>> {
  readonly after?: string
}

/** On the first of each month, in UTC, when requests that began before midnight have ended. */
export const MONTHLY_STATEMENT_SCHEDULE = { dayOfMonth: 1, hour: 0, minute: 5 } as const
