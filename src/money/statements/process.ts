import type { Process, ProcessInput } from '../../kernel/contract/process.ts'

/** Draws up what is missing of the months that are over: of one tenant whose clock has been moved, or of all. */
export const statementsProcess = {
  name: 'statements',
  title: 'Statements',
  details: `Draws up the statements that are missing of months that are over, page by page through the wallets. What is made is not made again.

No signal decides here. A page that fails is tried again, and *Request Cancellation* changes nothing.`,
  recurs: true,
} as const satisfies Process

/** Whose months; without an owner everybody's. */
export interface MonthsOf extends Partial<Pick<ProcessInput, 'ownerId' | 'mode'>> {
  /** The account after which it goes on. */
  readonly after?: string
}

/** On the first of each month, in UTC, when what was under way at midnight has ended. */
export const MONTHLY = { dayOfMonth: 1, hour: 0, minute: 5 } as const
