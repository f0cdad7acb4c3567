/** The kind of a movement, in words for people and as an ISO 20022 code for programs. */
interface Kind {
  readonly words: string
  /** The external family code within `PMNT`: that of cards, own or of payers; of all others the direction decides. */
  readonly family?: 'CCRD' | 'MCRD'
  /** The external sub-family code. */
  readonly code: 'ESCT' | 'RRTN' | 'BOOK' | 'OTHR' | 'POSD' | 'POSP' | 'RIMB'
}

/** Kinds by the template of the posting. */
const kinds: Readonly<Record<string, Kind>> = {
  fund: { words: 'Top-up', code: 'OTHR' },
  fund_reversal: { words: 'Top-up, drawn back', code: 'OTHR' },
  recovery: { words: 'Paid back what was owed', code: 'OTHR' },
  sepa_credit: { words: 'SEPA credit', code: 'ESCT' },
  assignment: { words: 'SEPA credit, assigned', code: 'ESCT' },
  processor_fund: { words: 'To the card processor', code: 'OTHR' },
  processor_withdraw: { words: 'From the card processor', code: 'OTHR' },
  purse_fund: { words: 'Funding of a card', code: 'BOOK' },
  purse_return: { words: 'Left over from a card', code: 'BOOK' },
  card_capture: { words: 'Payment by card', family: 'CCRD', code: 'POSD' },
  card_undo: { words: 'Payment by card, not made', family: 'CCRD', code: 'RIMB' },
  card_refund: { words: 'Payment by card, refunded', family: 'CCRD', code: 'RIMB' },
  dispute_credit: { words: 'Disputed payment, given back', family: 'CCRD', code: 'RIMB' },
  dispute_lost: { words: 'Disputed payment, taken back', family: 'CCRD', code: 'OTHR' },
  charge_out: { words: 'Payment', code: 'BOOK' },
  charge_in: { words: 'Payment received', code: 'BOOK' },
  charge_refund: { words: 'Payment received, given back', code: 'BOOK' },
  charge_refunded: { words: 'Payment, refunded', code: 'BOOK' },
  collect: { words: 'Card payment received', family: 'MCRD', code: 'POSP' },
  collect_refund: { words: 'Card payment received, given back', family: 'MCRD', code: 'RIMB' },
  transfer: { words: 'Transfer between wallets', code: 'BOOK' },
  transfer_refund: { words: 'Transfer between wallets, refunded', code: 'BOOK' },
  transfer_refund_unmatched: { words: 'Transfer between wallets, refunded', code: 'BOOK' },
  agent_fund: { words: 'Funding of an agent', code: 'BOOK' },
  sweep: { words: 'Sweep of an agent', code: 'BOOK' },
  sepa_submit: { words: 'SEPA transfer', code: 'ESCT' },
  sepa_undo: { words: 'SEPA transfer, rejected', code: 'RRTN' },
  sepa_return: { words: 'SEPA transfer, returned', code: 'RRTN' },
}

/** The kind of a template; one without an entry here is called by its name. */
export const kindOf = (template: string): Kind =>
  kinds[template] ?? { words: titleOf(template), code: 'OTHR' }

const titleOf = (template: string): string =>
  template.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())
