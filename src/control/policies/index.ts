export { policiesApi } from './api.ts'
export { Policy } from './policy.ts'
export { effectivePolicy, findPolicy } from './policy-versioning.ts'
export { PolicyEvent, PolicyExpired } from './schemas.ts'
export { policySimulationApi } from './simulation-api.ts'
export {
  type Decision,
  decideSpend,
  findSpenders,
  lockSpenders,
  lockSpendersOfIntents,
  type SpendDecision,
  type Spender,
} from './spenders.ts'
export { type AgentUsage, usageApi } from './usage-api.ts'
