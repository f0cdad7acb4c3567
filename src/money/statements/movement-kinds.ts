/** What a movement is, for people and for programs. */
interface Kind {
  readonly words: string
  /** Of the external codes of ISO 20022, within `PMNT` and the family that the direction tells. */
  readonly code: 'ESCT' | 'RRTN' | 'BOOK' | 'OTHR'
}

/** The postings that touch a wallet, by their templates. */
const kinds: Readonly<Record<string, Kind>> = {
  fund: { words: 'Top-up', code: 'OTHR' },
  fund_reversal: { words: 'Top-up, drawn back', code: 'OTHR' },
  recovery: { words: 'Paid back what was owed', code: 'OTHR' },
  sepa_credit: { words: 'SEPA credit', code: 'ESCT' },
  assignment: { words: 'SEPA credit, assigned', code: 'ESCT' },
  processor_fund: { words: 'To the card processor', code: 'OTHR' },
  transfer: { words: 'Transfer between wallets', code: 'BOOK' },
  agent_fund: { words: 'Funding of an agent', code: 'BOOK' },
  sweep: { words: 'Sweep of an agent', code: 'BOOK' },
  sepa_submit: { words: 'SEPA transfer', code: 'ESCT' },
  sepa_undo: { words: 'SEPA transfer, rejected', code: 'RRTN' },
  sepa_return: { words: 'SEPA transfer, returned', code: 'RRTN' },
}

/** What has no words of its own yet is called by its name. */
export const kindOf = (template: string): Kind =>
  kinds[template] ?? { words: formatEuros(template), code: 'OTHR' }

const formatEuros = (template: string): string =>
  template.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())
