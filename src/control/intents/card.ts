import type { Records } from '../../kernel/contract/records.ts'
import { CardTerms } from '../card-terms/index.ts'
import { hasPayeeRecord, Intent } from './intent.ts'

/** Locks an intent that a card is to be issued for: its agent is locked. */
export const lockIntentForCard = (records: Records, id: string): Promise<Intent | null> =>
  records.lock(Intent, id)

/** Why no card can be issued for the intent, as the code of a refusal; undefined if one can. */
export async function whyNotByCard(
  intent: Intent,
  { records, now }: { readonly records: Records; readonly now: Date },
) {
  const { status, paymentId, transactionId, expiresAt, cardId } = intent
  if (status !== 'approved') return 'intent_not_approved'
  if (paymentId || transactionId) return 'intent_being_paid'
  if (expiresAt <= now) return 'intent_expired'
  if (hasPayeeRecord(intent)) return 'intent_paid_by_transfer'
  const named = cardId ? await records.findOne(CardTerms, { id: cardId }) : null
  return named && named.status !== 'closed' ? 'intent_has_card' : undefined
}

/** From now on only this card pays the intent. */
export function nameCard(intent: Intent, cardId: string): void {
  intent.cardId = cardId
}
