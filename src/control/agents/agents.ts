import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { contains } from '../../kernel/contract/conditions.ts'
import type { SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import type { EntityManager, EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { openWallet } from '../../money/wallets/index.ts'
import { Agent, agentEvent, agentMachine, lockAgent, lockAnyAgent, unfreezeAgent } from './agent.ts'
import { agentSteps, agentsApi } from './api.ts'
import { fundAgent, getAgentBalance, holdsMoney, newAgentWallet, purses } from './money.ts'
import { agentProcess } from './process.ts'
import {
  deletionProblem,
  newAgentProblem,
  unfreezing,
  wideningOfNewAgent,
  wideningsOfAgent,
} from './widening.ts'

export const findAgent = (em: EntityReader, id: string): Promise<Agent | null> => em.findOne(Agent, { id })

async function isExternalIdTaken(
  em: EntityManager,
  externalId: string | null | undefined,
  except?: Agent,
): Promise<boolean> {
  if (!externalId) return false
  const holder = await em.findOne(Agent, { externalId })
  return holder !== null && holder !== except
}

const frozenByRiskMessage = (id: string, alertId: string): string =>
  `Risk has frozen the agent: review ${alertId} (GET /risk/alerts?agentId=${id}), then unfreeze it with POST /risk/agents/${id}/unfreeze.`

type Create = HandlerOf<typeof agentsApi.create>

interface NewAgent extends Partial<Omit<Parameters<Create>[0]['body'], 'webauthnAssertion'>> {
  readonly id?: string
  readonly name: string
}

/** Opens the agent's wallet with it. */
export async function createAgent(
  { policyId = null, ...members }: NewAgent,
  context: WriteContext<(typeof agentsApi.create)['emits']>,
): Promise<Agent> {
  const agent = context.em.create(Agent, members)
  context.emit('agent.created', { ...agentEvent(agent), policyId })
  await openWallet(newAgentWallet(agent), context)
  return agent
}

const agents = bindHandlers(agentsApi, {
  async create({ body }, context) {
    const { em, refuse } = context
    if (await isExternalIdTaken(em, body.externalId)) return refuse('external_id_taken')
    const { webauthnAssertion, ...members } = body
    const { name, policyId } = members
    const problem = await newAgentProblem(policyId, context)
    if (problem) return refuse(...problem)
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      async () => (policyId ? [await wideningOfNewAgent({ name, policyId }, context)] : []),
      context,
    )
    return unsigned ?? createAgent(members, context)
  },

  list: ({ query: { status, externalId, name } }, { page }) =>
    page(Agent, {
      status: status ?? { $ne: 'deleted' },
      ...definedOnly({ externalId, name: name && contains(name) }),
    }),

  get: getRecord(Agent, 'agent_not_found'),

  async update({ params, body }, { em, emit, refuse }) {
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    if (await isExternalIdTaken(em, body.externalId, agent)) return refuse('external_id_taken')
    Object.assign(agent, body)
    emit('agent.updated', agentEvent(agent))
    return agent
  },

  async freeze({ params, body }, { em, emit, refuse }) {
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    if (!agentMachine.move(agent, 'frozen')) return refuse('agent_not_active')
    Object.assign(agent, { frozenReason: body.reason, frozenByAlertId: null })
    emit('agent.frozen', agentEvent(agent))
    return agent
  },

  async unfreeze({ params, body }, context) {
    const { em, emit, refuse } = context
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    if (agent.status === 'frozen' && agent.frozenByAlertId)
      return refuse('frozen_by_risk', frozenByRiskMessage(agent.id, agent.frozenByAlertId))
    if (!agentMachine.can(agent.status, 'active')) return refuse('agent_not_frozen')
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      () => wideningsOfAgent(agent, [unfreezing]),
      context,
    )
    if (unsigned) return unsigned
    unfreezeAgent(agent)
    emit('agent.unfrozen', agentEvent(agent))
    return agent
  },

  fund: fundAgent,
  balance: getAgentBalance,

  async delete({ params }, context) {
    const { em, now, service, emit, refuse, wake } = context
    const [agent, opened, problem] = await Promise.all([
      lockAnyAgent(em, params.id),
      service.ask(purses, params.id, context),
      deletionProblem(params.id, context),
    ])
    if (!agent) return refuse('agent_not_found')
    if (await holdsMoney([agent.walletId, ...opened.flat()], context)) return refuse('money_held')
    if (!agentMachine.can(agent.status, 'deleting')) return refuse('agent_deleted')
    if (problem) return refuse('approval_needed', problem)
    agentMachine.move(agent, 'deleting')
    agent.deletionDueAt = now
    emit('agent.deleting', agentEvent(agent))
    wake(agentProcess, { id: agent.id, agentId: agent.id })
    return agent
  },
})

/** The deletion is due as soon as it is requested. */
const deletion: Deadline = {
  process: agentProcess,
  table: 'agents',
  record: 'id',
  agent: 'id',
  due: 'deletion_due_at',
  open: "status = 'deleting'",
  waits: 'true',
  activities: ['closeCards', 'cancelIntents', 'endRuns', 'returnMoney', 'finishDeletion'],
}

export const agentsArea = area(
  'Agents',
  'The programs that spend: create, freeze, unfreeze, delete.',
  agents,
  {
    steps: agentSteps,
    entities: [Agent],
    machines: [agentMachine],
    deadlines: [deletion],
    openRecords: [
      {
        process: agentProcess,
        select: `select id, owner_id, mode, id as agent_id from agents where ${deletion.open}`,
      },
    ],
  },
)

const NAME = 'select name from agents where (owner_id, mode, id) = ($1, $2, $3)'

/** Also of a deleted agent; null for an unknown id. */
export async function readAgentName(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<string | null> {
  return (await sql<Row & { name: string }>(NAME, [ownerId, mode, id]))[0]?.name ?? null
}
