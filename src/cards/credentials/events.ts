import type { Credential } from './credential.ts'

/** The data of a credential's event. */
export const credentialEvent = ({ id, agentId, intentId, cardId, status }: Credential) => ({
  credentialId: id,
  agentId,
  intentId,
  cardId,
  status,
})
