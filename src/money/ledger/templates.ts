import type { AccountKind } from './account.ts'

/** Every posting is one of these: from where to where. */
export const templates = {
  fund: ['bank', 'wallet'],
  sepa_credit: ['bank', 'wallet'],
  unmatched_credit: ['bank', 'suspense'],
  assignment: ['suspense', 'wallet'],
  /** Out of one ledger; what comes into the other one is a `sepa_credit`. */
  hand_over: ['suspense', 'bank'],
  processor_fund: ['wallet', 'float'],
  transfer: ['wallet', 'wallet'],
  agent_fund: ['wallet', 'wallet'],
  sweep: ['wallet', 'wallet'],
  sepa_submit: ['wallet', 'clearing_sepa'],
  sepa_settle: ['clearing_sepa', 'bank'],
  sepa_undo: ['clearing_sepa', 'wallet'],
  /** The wallet is closed: the money waits until it is known for which one it is. */
  sepa_undo_unmatched: ['clearing_sepa', 'suspense'],
  sepa_return: ['bank', 'wallet'],
} as const satisfies Record<string, readonly [from: AccountKind, to: AccountKind]>

export type Template = keyof typeof templates

/** Money that is kept for something stays where it is: one entry, of no amount. */
export type Keeping = 'hold' | 'release'
