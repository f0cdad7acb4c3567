import type { Cents } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { PostingNarrative } from '../ledger/index.ts'

interface Kind {
  readonly words: string
  /** The external family code within `PMNT` of cards; for all others the direction decides. */
  readonly family?: 'CCRD' | 'MCRD'
  readonly code: 'ESCT' | 'RRTN' | 'BOOK' | 'OTHR' | 'POSD' | 'POSP' | 'RIMB'
}

const kinds: Readonly<Record<string, Kind>> = {
  fund: { words: 'Top-up', code: 'OTHR' },
  fund_reversal: { words: 'Top-up, drawn back', code: 'OTHR' },
  fund_reinstated: { words: 'Top-up, given back', code: 'OTHR' },
  recovery: { words: 'Paid back what was owed', code: 'OTHR' },
  sepa_credit: { words: 'SEPA credit', code: 'ESCT' },
  assignment: { words: 'SEPA credit, assigned', code: 'ESCT' },
  fund_assignment: { words: 'Top-up, assigned', code: 'OTHR' },
  collect_assignment: { words: 'Card payment received, assigned', family: 'MCRD', code: 'POSP' },
  charge_assignment: { words: 'Payment received, assigned', code: 'BOOK' },
  charge_refunded_assignment: { words: 'Payment, refunded, assigned', code: 'BOOK' },
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
  collect_chargeback: { words: 'Card payment received, charged back', family: 'MCRD', code: 'OTHR' },
  transfer: { words: 'Transfer between wallets', code: 'BOOK' },
  transfer_refund: { words: 'Transfer between wallets, refunded', code: 'BOOK' },
  transfer_refund_unmatched: { words: 'Transfer between wallets, refunded', code: 'BOOK' },
  agent_fund: { words: 'Funding of an agent', code: 'BOOK' },
  sweep: { words: 'Sweep of an agent', code: 'BOOK' },
  sepa_submit: { words: 'SEPA transfer', code: 'ESCT' },
  sepa_undo: { words: 'SEPA transfer, rejected', code: 'RRTN' },
  sepa_return: { words: 'SEPA transfer, returned', code: 'RRTN' },
}

export const movementKindOfTemplate = (template: string): Kind =>
  kinds[template] ?? { words: titleOf(template), code: 'OTHR' }

const titleOf = (template: string): string =>
  template.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())

export interface StatementMovement extends PostingNarrative {
  readonly postingId: string
  readonly kind: ReturnType<typeof movementKindOfTemplate>
  readonly bookedAt: Date
  readonly valueDate: string
  /** Positive for credits. */
  readonly amountCents: Cents
  readonly balanceCents: Cents
  readonly walletId: string | null
}

/** Units of the original currency for one euro, as it was charged. */
export function chargedRate(
  { amount }: OriginalAmount,
  { amountCents, chargedCents }: Pick<StatementMovement, 'amountCents' | 'chargedCents'>,
): string {
  const euros = Math.abs(Number(chargedCents ?? amountCents)) / 100
  return String(Number((Number(amount) / euros).toPrecision(8)))
}
