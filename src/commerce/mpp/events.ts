import type { MppCredential } from './credential.ts'

/** The data of a credential's event. */
export const credentialEvent = ({
  id,
  agentId,
  intentId,
  cardId,
  status,
  amountEuros,
  merchant,
}: MppCredential) => ({ credentialId: id, agentId, intentId, cardId, status, amountEuros, merchant })
