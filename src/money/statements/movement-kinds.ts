/** The kind of a movement, in words for people and as an ISO 20022 code for programs. */
interface Kind {
  readonly words: string
  /** The external sub-family code within `PMNT`; the direction decides the family, except that of cards. */
  readonly code: 'ESCT' | 'RRTN' | 'BOOK' | 'OTHR' | CardCode
}

/** The sub-families of payments by card (`CCRD`): at a point of sale, and given back. */
const cardCodes = ['POSD', 'RIMB'] as const
type CardCode = (typeof cardCodes)[number]

export const isOfCard = ({ code }: Kind): boolean => (cardCodes as readonly string[]).includes(code)

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
  card_capture: { words: 'Payment by card', code: 'POSD' },
  card_undo: { words: 'Payment by card, not made', code: 'RIMB' },
  card_refund: { words: 'Payment by card, refunded', code: 'RIMB' },
  transfer: { words: 'Transfer between wallets', code: 'BOOK' },
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
