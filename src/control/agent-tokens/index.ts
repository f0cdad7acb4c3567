export { defaultTokenScopes, issueDelegationToken, revokeDelegationTokens } from './agent-tokens.ts'
export { agentTokenCreatedEvent, agentTokenRevokedEvent, agentTokensApi } from './api.ts'
export { type AgentTokenBudget, loadTokenBudgets, RemainingTokenBudgets, readTokenBudgets } from './limits.ts'
