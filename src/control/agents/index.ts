export {
  Agent,
  agentEvent,
  type BudgetUse,
  type FrozenAgent,
  freeze,
  lockAgent,
  lockAgents,
  readBudgetUse,
  UNUSED,
  unfreeze,
  updateFrozenAgents,
} from './agent.ts'
export { findAgent } from './agents.ts'
export { AgentCreated, AgentEvent, AgentRecord, agentsApi } from './api.ts'
