import { excerpt } from '../../values/schemas.ts'
import type { IntentRow } from './intent-rows.ts'

/** What the world is told of an intent. */
export const intentEvent = (
  { id, agentId, runId, delegationId, status, amountEuros, merchant }: IntentRow,
  reason?: string,
) => ({
  intentId: id,
  agentId,
  ...(runId ? { runId } : {}),
  ...(delegationId ? { delegationId } : {}),
  status,
  amountEuros,
  merchant: excerpt(merchant),
  ...(reason ? { reason: excerpt(reason) } : {}),
})
