import type { LedgerAccountKind } from './account.ts'

export const postingTemplates = {
  fund: ['bank', 'wallet'],
  /** A chargeback or returned debit, even if the wallet no longer has the money. */
  fund_reversal: ['wallet', 'bank'],
  /** The payer's bank gives it back: a chargeback was won. */
  fund_reinstated: ['bank', 'wallet'],
  /**
   * The platform advances what an owner owes, and what an acquirer has yet to pay, so that the bank covers
   * all wallets; `advance_return` takes it back.
   */
  advance: ['bank', 'advance'],
  recovery: ['wallet', 'receivable'],
  advance_return: ['advance', 'bank'],
  sepa_credit: ['bank', 'wallet'],
  unmatched_credit: ['bank', 'suspense'],
  assignment: ['suspense', 'wallet'],
  /** The same for money that came by other ways, which a statement does not call a SEPA credit. */
  fund_assignment: ['suspense', 'wallet'],
  collect_assignment: ['suspense', 'wallet'],
  charge_assignment: ['suspense', 'wallet'],
  charge_refunded_assignment: ['suspense', 'wallet'],
  /** Money of the platform that leaves its ledger for an owner's, where it arrives as a `sepa_credit`. */
  hand_over: ['suspense', 'bank'],
  /** Money that belongs to no owner of the installation is returned to its sender. */
  credit_return: ['suspense', 'bank'],
  /** Money that was returned while the owner had no open wallet. The bank pays it to the owner. */
  suspense_payout: ['suspense', 'bank'],
  /** A payment from owner to owner leaves one ledger by `charge_out` and enters the other by `charge_in`. */
  charge_out: ['wallet', 'bank'],
  charge_in: ['bank', 'wallet'],
  /**
   * The refund of such a payment leaves the payee's ledger by `charge_refund` and enters the payer's by
   * `charge_refunded`.
   */
  charge_refund: ['wallet', 'bank'],
  charge_refunded: ['bank', 'wallet'],
  collect: ['clearing_acquirer', 'wallet'],
  /** The wallet is closed, so the money waits in suspense until it is assigned. */
  collect_unmatched: ['clearing_acquirer', 'suspense'],
  collect_settle: ['bank', 'clearing_acquirer'],
  collect_refund: ['wallet', 'clearing_acquirer'],
  /** A payer’s bank takes a charge back, even if the wallet no longer has the money. */
  collect_chargeback: ['wallet', 'clearing_acquirer'],
  processor_fund: ['wallet', 'float'],
  processor_withdraw: ['float', 'wallet'],
  transfer: ['wallet', 'wallet'],
  /** Goes to suspense if the owner has no open wallet. */
  transfer_refund: ['wallet', 'wallet'],
  transfer_refund_unmatched: ['wallet', 'suspense'],
  agent_fund: ['wallet', 'wallet'],
  sweep: ['wallet', 'wallet'],
  sepa_submit: ['wallet', 'clearing_sepa'],
  sepa_settle: ['clearing_sepa', 'bank'],
  sepa_undo: ['clearing_sepa', 'wallet'],
  sepa_undo_unmatched: ['clearing_sepa', 'suspense'],
  sepa_return: ['bank', 'wallet'],
  /** The purse of a card, which is a wallet from which only this card pays. */
  purse_fund: ['wallet', 'wallet'],
  purse_return: ['wallet', 'wallet'],
  card_capture: ['wallet', 'clearing_cards'],
  card_settle: ['clearing_cards', 'bank'],
  card_undo: ['clearing_cards', 'wallet'],
  card_undo_unmatched: ['clearing_cards', 'suspense'],
  card_refund: ['bank', 'wallet'],
  card_refund_unmatched: ['bank', 'suspense'],
  /** The owner gets a disputed amount before the decision; the platform advances it to the bank. */
  dispute_credit: ['disputes', 'wallet'],
  dispute_credit_unmatched: ['disputes', 'suspense'],
  /** The card network has paid, and may take it back. */
  dispute_won: ['bank', 'disputes'],
  dispute_reversed: ['disputes', 'bank'],
  /** The provisional credit is taken back, even if the wallet no longer has it. */
  dispute_lost: ['wallet', 'disputes'],
  dispute_lost_unmatched: ['suspense', 'disputes'],
  /** The owner keeps what the card network does not pay, and the platform bears the loss. */
  dispute_loss: ['losses', 'disputes'],
  dispute_loss_recovered: ['disputes', 'losses'],
} as const satisfies Record<string, readonly [from: LedgerAccountKind, to: LedgerAccountKind]>

export type PostingTemplate = keyof typeof postingTemplates

/** Postings that change only held money. They have one entry, with amount zero. */
export type HoldMovement = 'hold' | 'release'
