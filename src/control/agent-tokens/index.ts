export { readTokenUses } from './agent-token.ts'
export {
  agentTokenAuthenticator,
  defaultTokenScopes,
  issueAssistantToken,
  issueDelegationToken,
  renewAssistantToken,
  revokeAssistantToken,
  revokeDelegationTokens,
} from './agent-tokens.ts'
export { agentTokenCreatedEvent, agentTokenRevokedEvent, agentTokensApi } from './api.ts'
export {
  type AgentTokenBudget,
  loadTokenBudgets,
  RemainingTokenBudgets,
  readAgentTokenBudgets,
  tokenPayments,
} from './limits.ts'
export { actorsWithScope } from './rights.ts'
