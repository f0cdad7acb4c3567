import type { Process, ProcessInput } from '../../kernel/contract/process.ts'

/** Draws up what is missing of the months that are over: of one tenant whose clock has been moved, or of all. */
export const statementsProcess: Process = { name: 'statements', recurs: true }

/** Whose months; without an owner everybody's. */
export interface MonthsOf extends Partial<Pick<ProcessInput, 'ownerId' | 'mode'>> {
  /** The account after which it goes on. */
  readonly after?: string
}

/** On the first of each month, in UTC, when what was under way at midnight has ended. */
export const MONTHLY = { dayOfMonth: 1, hour: 0, minute: 5 } as const
