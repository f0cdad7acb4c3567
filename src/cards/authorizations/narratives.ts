import type { PaymentFacts } from '../../control/payments/index.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { describePostings, type PostingOfAccount } from '../../money/ledger/index.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'

interface NarratedAuthorization extends Row {
  readonly id: string
  readonly name: string
  readonly reference: string
  readonly facts: PaymentFacts
}

const AUTHORIZATIONS = `
select id, merchant as name, descriptor as reference, facts from card_authorizations
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** How the postings of a payment by card are described in a statement. */
export const cardPostingNarratives = describePostings<NarratedAuthorization>(
  'card_change',
  AUTHORIZATIONS,
  ({ name, reference, facts }, posting) => ({
    name,
    reference,
    original: originalOf(facts, posting),
    chargedCents: posting.totalCents,
  }),
)

/**
 * The original of the clearing or refund of exactly this amount. If that names none, the original of the request or of
 * the challenge, for a capture of the whole payment. Later facts change neither, so a final statement stays the same.
 */
function originalOf(
  facts: PaymentFacts,
  { template, amountCents, totalCents }: PostingOfAccount,
): OriginalAmount | null {
  const total = String(totalCents)
  const stated = statedFacts(facts, template, amountCents < 0n).find(({ amount }) => amount === total)
  if (stated?.original || template !== 'card_capture') return stated?.original ?? null
  if (facts.initiated === total) return facts.initiatedOriginal ?? null
  const [cleared] = facts.clearings
  const isWhole = cleared?.final === true && cleared.amount === total
  return (isWhole && (facts.requests[0]?.original ?? facts.initiatedOriginal)) || null
}

function statedFacts({ clearings, refunds }: PaymentFacts, template: string, isDebit: boolean) {
  if (isDebit) return clearings
  return template === 'card_refund' || template === 'card_refund_unmatched' ? refunds : []
}
