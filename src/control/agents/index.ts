export {
  Agent,
  agentEvent,
  type BudgetUse,
  type FrozenAgent,
  freezeAgent,
  lockAgent,
  lockAgents,
  lockAgentsWhere,
  lockAnyAgent,
  readBudgetUse,
  UNUSED_BUDGET,
  unfreezeAgent,
  updateFrozenAgents,
} from './agent.ts'
export { createAgent, findAgent } from './agents.ts'
export { AgentCreated, AgentEvent, AgentRecord, agentSteps, agentsApi } from './api.ts'
export { agentDeletionStatus, finishAgentDeletion, isNextToEnd, returnAgentMoney } from './deletion.ts'
export { unfreezing, wideningsOfAgent } from './widening.ts'
