import { excerpt } from '../../values/schemas.ts'
import type { IntentRow } from './intent-rows.ts'

/** The data of an intent's event: no purpose and no full texts. */
export const intentEvent = (
  {
    id,
    agentId,
    runId,
    delegationId,
    cardId,
    requestId,
    paymentTokenId,
    status,
    amountEuros,
    merchant,
  }: IntentRow,
  reason?: string,
) => ({
  intentId: id,
  agentId,
  ...(runId ? { runId } : {}),
  ...(delegationId ? { delegationId } : {}),
  ...(cardId ? { cardId } : {}),
  ...(requestId ? { requestId } : {}),
  ...(paymentTokenId ? { paymentTokenId } : {}),
  status,
  amountEuros,
  merchant: excerpt(merchant),
  ...(reason ? { reason: excerpt(reason) } : {}),
})
