import { personEvents } from '../../identity/people/index.ts'
import { reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { Agent, AgentEvent } from '../agents/index.ts'
import { suspendMandate } from './change.ts'
import { Mandate, OPEN, type Suspension } from './mandate.ts'
import { mandateSuspended } from './schemas.ts'

type Reacting = Context<never, typeof mandateSuspended>

/** Whoever has changed the agent has locked it, so no intent is approved by them any more. */
async function suspendOfAgent(
  agentId: string,
  because: Suspension,
  comment: string,
  context: Reacting,
): Promise<void> {
  const active = await context.records.find(
    Mandate,
    { agentId, status: 'active' },
    { orderBy: { id: 'asc' }, lock: true },
  )
  for (const mandate of active) suspendMandate(mandate, because, comment, context)
}

/** The agents for which a person has signed mandates that have not ended. */
const AGENTS_OF_SIGNER = `id in (
  select m.agent_id from mandates m where m.owner_id = ? and m.mode = ? and m.person_id = ? and m.${OPEN})`

export const mandateReactions = {
  'agent.frozen': reaction(AgentEvent, mandateSuspended, ({ agentId }, context) =>
    suspendOfAgent(agentId, 'agent_frozen', 'The agent was frozen.', context),
  ),
  'agent.deleting': reaction(AgentEvent, mandateSuspended, ({ agentId }, context) =>
    suspendOfAgent(agentId, 'agent_deleted', 'The agent is being deleted.', context),
  ),
  /** Agents are locked first, as spending does. The tenant is locked for the removal, so no mandate of this person is added. */
  'person.removed': reaction(
    personEvents['person.removed'],
    mandateSuspended,
    async ({ personId }, context) => {
      const { records, tenant } = context
      const values = [tenant.ownerId, tenant.mode, personId]
      await records.find(Agent, sqlCondition(AGENTS_OF_SIGNER, values), {
        orderBy: { id: 'asc' },
        lock: true,
      })
      const active = { personId, status: 'active' } as const
      const mandates = await records.find(Mandate, active, { orderBy: { id: 'asc' }, lock: true })
      for (const mandate of mandates)
        suspendMandate(mandate, 'signer_removed', 'The person who has signed it was removed.', context)
    },
  ),
}
