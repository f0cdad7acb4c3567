export { policiesApi, policySteps } from './api.ts'
export { expirePolicy, policyEndStatus } from './end.ts'
export { Policy } from './policy.ts'
export { effectivePolicy, findPolicy } from './policy-versioning.ts'
export { carryOutPolicyWrite, type Hold, type PolicyWrite } from './policy-writes.ts'
export { PolicyEvent, PolicyExpiredEvent } from './schemas.ts'
export { policySimulationApi } from './simulation-api.ts'
export {
  type AskingPolicy,
  approvalStepsOf,
  cappedByPolicy,
  decideSpend,
  findFirstAskingPolicy,
  findSpendingAgents,
  lockSpendingAgents,
  type PolicyDecision,
  type SpendDecision,
  type SpendingAgent,
  spenderLock,
} from './spenders.ts'
export { type AgentUsage, agentUsageApi } from './usage-api.ts'
