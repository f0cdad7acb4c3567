export { defaultScopes, issueDelegationToken, revokeDelegationTokens } from './agent-tokens.ts'
export { agentTokensApi, TokenCreated, TokenRevoked } from './api.ts'
export { type TokenLimit, tokenLimits } from './limits.ts'
export { openTokenBudgets, TokenBudgets } from './token-budgets.ts'
