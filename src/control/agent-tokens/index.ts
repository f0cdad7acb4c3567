export { givenBy, issueTokenOf, revokeTokensOf } from './agent-tokens.ts'
export { TokenCreated, TokenRevoked } from './api.ts'
export { type TokenLimit, tokenLimits } from './limits.ts'
export { openPurse, Purse } from './token-budgets.ts'
