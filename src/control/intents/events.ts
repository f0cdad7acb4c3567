import { excerpt } from '../../values/schemas.ts'
import type { IntentRow } from './intent-rows.ts'

/** The person by whose yes or no the status came about; a later event is not that person's act. */
const personOf = ({ status, decidedBy }: IntentRow): string | null =>
  decidedBy?.type === 'console' && (status === 'approved' || status === 'denied') ? decidedBy.id : null

/** The mandate by which it was approved, for as long as that is what the status tells. */
const mandateOf = ({ status, decidedBy }: IntentRow): string | null =>
  decidedBy?.type === 'mandate' && status === 'approved' ? decidedBy.id : null

/** The data of an intent's event: no purpose and no full texts. */
export function intentEvent(intent: IntentRow, reason?: string) {
  const { id, agentId, runId, delegationId, cardId, requestId, paymentTokenId } = intent
  const { status, amountEuros, merchant } = intent
  const personId = personOf(intent)
  const mandateId = mandateOf(intent)
  return {
    intentId: id,
    agentId,
    ...(runId ? { runId } : {}),
    ...(delegationId ? { delegationId } : {}),
    ...(cardId ? { cardId } : {}),
    ...(requestId ? { requestId } : {}),
    ...(paymentTokenId ? { paymentTokenId } : {}),
    ...(personId ? { personId } : {}),
    ...(mandateId ? { mandateId } : {}),
    status,
    amountEuros,
    merchant: excerpt(merchant),
    ...(reason ? { reason: excerpt(reason) } : {}),
  }
}
