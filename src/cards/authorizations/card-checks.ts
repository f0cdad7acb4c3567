import type { CardTermsRow } from '../../control/card-terms/index.ts'
import type { IntentRow } from '../../control/intents/index.ts'
import type { PaymentState } from '../../control/payments/index.ts'
import type { CardReply } from '../../ports/card-processor.ts'
import { addCents, type Cents, remainderOf } from '../../values/money.ts'
import type { PayingCard } from './authorization-rows.ts'
import type { CardDecisionState } from './batch.ts'
import type { CardAuthorizationRequest } from './incoming-message.ts'

export const TOO_LATE_MESSAGE = 'The decision came too late for the card network.'
export const LATE_REPLY: CardReply = { kind: 'declined', reason: TOO_LATE_MESSAGE, isLate: true }

export function authorizationBlocker(
  request: CardAuthorizationRequest,
  intent: IntentRow | undefined,
  batch: CardDecisionState,
): string | undefined {
  const { existing, cardId, isLate } = request
  if (isLate) return TOO_LATE_MESSAGE
  const terms = batch.terms.get(cardId)
  const blocker = cardBlocker(request, terms, batch)
  if (blocker) return blocker
  if (isOrphan(request)) return 'There is no open authorization to increment.'
  if (terms && terms.intentId !== null && terms.intentId !== intent?.id)
    return `The card pays only the intent ${terms.intentId}, which is not payable now, or is for another merchant or a smaller amount.`
  if (existing?.source === 'intent' && !intent)
    return 'The intent does not hold enough for this increment, or pays no more: declare another intent for the rest.'
  return tokenBlocker(request, intent, batch)
}

function cardBlocker(
  { content, existing, numberId }: CardAuthorizationRequest,
  terms: CardTermsRow | undefined,
  { cards, now, used }: Pick<CardDecisionState, 'cards' | 'now' | 'used'>,
): string | undefined {
  const card = cards.get(numberId)
  const blocker = terms && statusBlockers[terms.status]
  if (blocker) return blocker
  if (!card || !terms) return 'There is no such card.'
  const paymentId = used.get(card.cardId) ?? card.paymentId
  if (card.usage === 'single' && paymentId && paymentId !== existing?.id)
    return 'The card was for one payment, which has been made. Use another card.'
  // What began on a number goes on there, but a decline has begun nothing.
  const goesOn = existing !== undefined && (content.ask === 0 || existing.approvedCents > 0n)
  return goesOn ? undefined : numberBlocker(card, now)
}

const statusBlockers: Readonly<Record<CardTermsRow['status'], string | null>> = {
  pending: 'The card has not been issued yet. Wait until it is active.',
  inactive: 'The card is not active: activate it (POST /cards/{id}/activate).',
  active: null,
  frozen: 'The card is frozen: unfreeze it (POST /cards/{id}/unfreeze).',
  closed: 'The card is closed. Use another one.',
}

function numberBlocker({ numberStatus, retiresAt, endsAt }: PayingCard, now: Date): string | undefined {
  const isRetired = numberStatus === 'retiring' && retiresAt !== null && retiresAt <= now
  if (numberStatus === 'replaced' || isRetired)
    return 'This number of the card has been replaced. Use the current one.'
  return endsAt <= now ? 'The card has expired.' : undefined
}

/** An increment needs an authorization to raise, and nothing is held on one that is over. */
const isOrphan = ({ content, existing, change }: CardAuthorizationRequest): boolean =>
  content.ask > 0 && (!existing || change.before.isClosed)

/** An increment raises what the token of its payment pays, also where the network does not name that again. */
function tokenBlocker(
  request: CardAuthorizationRequest,
  intent: IntentRow | undefined,
  { credentials, now }: CardDecisionState,
): string | undefined {
  const { content, cardId, existing } = request
  const { merchant } = content
  const networkTokenId = existing?.networkTokenId ?? merchant.networkTokenId
  if (networkTokenId === null) return undefined
  const token = credentials.find(networkTokenId)
  if (token?.cardId !== cardId) return 'The network token is unknown.'
  if (content.amountCents > 0n && token.intentId !== null && token.intentId !== intent?.id)
    return `The network token pays only the intent ${token.intentId}, which does not cover this.`
  return credentials.blockerOf(networkTokenId, { merchant, now, ...additionalCharge(request) })
}

/** What a request adds to a token's charges: nothing if a receipt has already confirmed the same payment. */
function additionalCharge({ content, existing, change }: CardAuthorizationRequest) {
  const { amountCents, ask } = content
  if (!existing?.mppCredentialId) return { amountCents, isIncrement: ask > 0 }
  const before = chargedCents(change.before)
  return { amountCents: remainderOf(chargedCents(change.after), before), isIncrement: before > 0n }
}

const chargedCents = ({ heldCents, capturedCents }: PaymentState): Cents => addCents(heldCents, capturedCents)
