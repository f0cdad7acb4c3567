export {
  Agent,
  agentEvent,
  type FrozenAgent,
  freezeAgent,
  lockAgent,
  lockAgentsWhere,
  lockAnyAgent,
  unfreezeAgent,
  updateFrozenAgents,
} from './agent.ts'
export { createAgent, findAgent, readAgentName } from './agents.ts'
export { AgentCreated, AgentEvent, AgentRecord, agentSteps, agentsApi } from './api.ts'
export { agentDeletionStatus, finishAgentDeletion, lockDeletingAgent, returnAgentMoney } from './deletion.ts'
export { purses } from './money.ts'
export { newAgentProblem, templates, unfreezing, wideningsOfAgent } from './widening.ts'
