export { defaultScopes, issueDelegationToken, revokeDelegationTokens } from './agent-tokens.ts'
export { agentTokensApi, TokenCreated, TokenRevoked } from './api.ts'
export { openTokenBudgets, TokenBudgets, type TokenLimit, tokenLimits } from './limits.ts'
