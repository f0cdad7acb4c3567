import type { AgentCredential } from './agent-credential.ts'

/** The data of an agent credential's event. */
export const agentCredentialEvent = ({
  id,
  agentId,
  intentId,
  cardId,
  status,
  amountLimitEuros,
}: AgentCredential) => ({
  agentCredentialId: id,
  agentId,
  intentId,
  cardId,
  status,
  amountLimitEuros,
})
