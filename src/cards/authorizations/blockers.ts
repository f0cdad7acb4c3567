import type { CardTermsRow } from '../../control/card-terms/index.ts'
import { foldFacts } from '../../control/payments/index.ts'
import type { AuthorizationRequest } from '../../ports/card-processor.ts'
import type { AuthorizationRow } from './authorization-rows.ts'
import type { DecisionState } from './batch.ts'
import type { PayingCard } from './paying-card.ts'

/** The answer to a request that could not be decided while the network waits. */
export const TOO_LATE = 'The decision came too late for the card network.'

const statusWords: Readonly<Record<CardTermsRow['status'], string | null>> = {
  pending: 'The card has not been issued yet: wait until it is active.',
  inactive: 'The card is not active: activate it (POST /cards/{id}/activate).',
  active: null,
  frozen: 'The card is frozen: unfreeze it (POST /cards/{id}/unfreeze).',
  closed: 'The card is closed and pays nothing more: use another one.',
}

/** Why the number that was used pays nothing new. */
function numberBlocker({ numberStatus, retiresAt, endsAt }: PayingCard, now: Date): string | undefined {
  const isRetired = numberStatus === 'retiring' && retiresAt !== null && retiresAt <= now
  if (numberStatus === 'replaced' || isRetired)
    return 'This number of the card has been replaced: use the one it has now.'
  return endsAt <= now ? 'The card has reached the end that is printed on it.' : undefined
}

/** Why a card pays nothing at all now, whatever the rules would say; undefined if it can pay. */
export function cardBlocker(
  card: PayingCard | undefined,
  terms: CardTermsRow | undefined,
  existing: AuthorizationRow | undefined,
  { now, used }: Pick<DecisionState, 'now' | 'used'>,
): string | undefined {
  const words = terms && statusWords[terms.status]
  if (words) return words
  if (!card || !terms) return 'There is no such card.'
  const paymentId = used.get(card.cardId) ?? card.paymentId
  if (card.usage === 'single' && paymentId && paymentId !== existing?.id)
    return 'The card is for one payment and has made it: use another one.'
  return existing ? undefined : numberBlocker(card, now)
}

/** Why a request cannot be decided by the rules alone, beside its card. */
export const isOfOtherIntent = (terms: CardTermsRow | undefined, intentId: string | undefined): boolean =>
  terms !== undefined && terms.intentId !== null && terms.intentId !== intentId

export const otherIntentWords = ({ intentId }: Pick<CardTermsRow, 'intentId'>): string =>
  `The card pays the intent ${intentId} alone: that one is not approved and unpaid, or is for another merchant or a smaller amount.`

/** An increment needs the authorization that it adds to, and nothing is held for one that is over. */
export const isOrphan = ({ ask }: AuthorizationRequest, existing: AuthorizationRow | undefined): boolean =>
  ask > 0 && (!existing || foldFacts(existing.facts).isOver)
