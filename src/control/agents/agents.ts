import type { EntityManager } from '@mikro-orm/postgresql'
import { area } from '../../kernel/area.ts'
import { implement } from '../../kernel/operation.ts'
import { lock } from '../../kernel/record.ts'
import { excerpt } from '../../kernel/schemas.ts'
import { Agent, agentMachine } from './agent.ts'
import { agentsApi } from './api.ts'

export type { Agent } from './agent.ts'
export { AgentCreated, AgentEvent } from './api.ts'

/** An agent that can still act or be changed, locked until the transaction ends. */
export async function lockAgent(em: EntityManager, id: string): Promise<Agent | null> {
  const agent = await lock(em, Agent, id)
  return agent?.status === 'deleted' ? null : agent
}

/** An agent of the caller, whatever its status. */
export const findAgent = (em: EntityManager, id: string): Promise<Agent | null> => em.findOne(Agent, { id })

const isTaken = async (
  em: EntityManager,
  externalId: string | null | undefined,
  by?: Agent,
): Promise<boolean> => {
  if (!externalId) return false
  const holder = await em.findOne(Agent, { externalId })
  return holder !== null && holder !== by
}

const about = (agent: Agent) => ({
  agentId: agent.id,
  status: agent.status,
  ...(agent.frozenReason ? { reason: excerpt(agent.frozenReason) } : {}),
})

const agents = implement(agentsApi, {
  async create({ body }, { em, emit, refuse }) {
    if (await isTaken(em, body.externalId)) return refuse('external_id_taken')
    const { policyId, ...members } = body
    const agent = em.create(Agent, members)
    emit('agent.created', { ...about(agent), policyId })
    return agent
  },

  list: ({ query: { status, externalId } }, { page }) =>
    page(Agent, {
      status: status ?? { $ne: 'deleted' },
      ...(externalId === undefined ? {} : { externalId }),
    }),

  async get({ params }, { em, refuse }) {
    return (await findAgent(em, params.id)) ?? refuse('agent_not_found')
  },

  async update({ params, body }, { em, emit, refuse }) {
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    if (await isTaken(em, body.externalId, agent)) return refuse('external_id_taken')
    Object.assign(agent, body)
    emit('agent.updated', about(agent))
    return agent
  },

  async freeze({ params, body }, { em, emit, refuse }) {
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    if (!agentMachine.move(agent, 'frozen')) return refuse('agent_not_active')
    agent.frozenReason = body.reason
    emit('agent.frozen', about(agent))
    return agent
  },

  async unfreeze({ params }, { em, emit, refuse }) {
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    if (!agentMachine.move(agent, 'active')) return refuse('agent_not_frozen')
    agent.frozenReason = null
    emit('agent.unfrozen', about(agent))
    return agent
  },

  async delete({ params }, { em, emit, refuse }) {
    const agent = await lock(em, Agent, params.id)
    if (!agent) return refuse('agent_not_found')
    if (!agentMachine.move(agent, 'deleting')) return refuse('agent_deleted')
    agentMachine.move(agent, 'deleted')
    emit('agent.deleted', about(agent))
    return agent
  },
})

export const agentsArea = area(
  'Agents',
  'The programs that spend: create, freeze, unfreeze, delete.',
  agents,
  {
    entities: [Agent],
    machines: [agentMachine],
  },
)
