import type { AccountKind } from './account.ts'

/** Every posting is one of these: from where to where. */
export const templates = {
  fund: ['bank', 'wallet'],
  /** Drawn back by the payer's bank, whether the wallet still has it or not. */
  fund_reversal: ['wallet', 'bank'],
  /** What an owner owes us we lay out, so that the bank has all that the wallets say; and take back when it is paid. */
  advance: ['bank', 'advance'],
  recovery: ['wallet', 'receivable'],
  advance_return: ['advance', 'bank'],
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
export type HoldMovement = 'hold' | 'release'
