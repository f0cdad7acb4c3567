import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { findPerson, personEvents } from '../../identity/people/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { reaction } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { Context, EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { tableOf } from '../../kernel/database/table.ts'
import { AgentEvent, lockAgentsWhere } from '../agents/index.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import type { mandateSteps, mandatesApi } from './api.ts'
import { isMandateExhausted } from './constraints.ts'
import {
  isMandateOpen,
  Mandate,
  type MandateSuspensionReason,
  mandateMachine,
  OPEN_MANDATE_SQL,
} from './mandate.ts'
import { findLoadedMandate } from './open-mandates.ts'
import { mandateProcess } from './process.ts'
import { mandateEvent, mandateResponse } from './response.ts'
import { type mandateExhaustedEvent, type mandateRevokedEvent, mandateSuspendedEvent } from './schemas.ts'

const AGENT_OF = 'id = (select m.agent_id from mandates m where m.owner_id = ? and m.mode = ? and m.id = ?)'

/**
 * Locks the agent first, as spending does, and then the mandate, so that no intent is approved by the state
 * before the change.
 */
async function lockMandate(id: string, { em, tenant }: WriteContext) {
  const condition = sqlCondition(AGENT_OF, [tenant.ownerId, tenant.mode, id])
  const [[agent], mandate] = await Promise.all([
    lockAgentsWhere(em, condition),
    em.findOne(Mandate, { id }, FOR_UPDATE),
  ])
  return agent && mandate && { agent, mandate }
}

function suspendMandate(
  mandate: Mandate,
  because: MandateSuspensionReason,
  comment: string | null,
  { emit, wake }: EmitContext<typeof mandateSuspendedEvent>,
): void {
  if (!mandateMachine.move(mandate, 'suspended')) return
  Object.assign(mandate, { suspendedBecause: because, comment })
  emit('mandate.suspended', mandateEvent(mandate, comment))
  wake(mandateProcess, mandate)
}

const overMessage = ({ status }: Mandate): string | undefined =>
  mandateMachine.isFinal(status) ? `The mandate is already ${status}.` : undefined

export const suspendMandateOperation: HandlerOf<typeof mandatesApi.suspend> = async (
  { params, body },
  context,
) => {
  const { now, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { mandate } = found
  if (!isMandateOpen(mandate, now)) return refuse('mandate_over', overMessage(mandate))
  if (mandate.status === 'suspended') return refuse('mandate_suspended')
  suspendMandate(mandate, 'requested', body.comment, context)
  return mandateResponse(mandate, context)
}

export const resumeMandate: HandlerOf<typeof mandatesApi.resume> = async ({ params, body }, context) => {
  const { now, emit, wake, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { agent, mandate } = found
  if (!isMandateOpen(mandate, now)) return refuse('mandate_over', overMessage(mandate))
  if (mandate.status === 'active') return refuse('mandate_active')
  if (agent.status !== 'active') return refuse('agent_not_active')
  const signer = await findPerson(mandate.personId, context)
  if (signer?.status !== 'active') return refuse('signer_removed')
  const { id, name } = mandate
  const unsigned = await refuseUnsignedWidening(
    body.webauthnAssertion,
    () => [{ of: 'mandate', id, name, field: 'Status', from: 'suspended', to: 'active' }],
    context,
  )
  if (unsigned) return unsigned
  mandateMachine.move(mandate, 'active')
  Object.assign(mandate, { suspendedBecause: null, comment: body.comment })
  emit('mandate.resumed', mandateEvent(mandate, body.comment))
  wake(mandateProcess, mandate)
  return mandateResponse(mandate, context)
}

export const revokeMandate: HandlerOf<typeof mandatesApi.revoke> = async ({ params, body }, context) => {
  const { now, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { mandate } = found
  if (!isMandateOpen(mandate, now)) return refuse('mandate_over', overMessage(mandate))
  endByRevocation(mandate, body.comment, context)
  return mandateResponse(mandate, context)
}

function endByRevocation(
  mandate: Mandate,
  comment: string | null,
  { now, emit, wake }: EmitContext<typeof mandateRevokedEvent>,
): void {
  mandateMachine.move(mandate, 'revoked')
  Object.assign(mandate, { suspendedBecause: null, comment, endedAt: now })
  emit('mandate.revoked', mandateEvent(mandate, comment))
  wake(mandateProcess, mandate)
}

/** Leaves a mandate that has ended as it is. */
export async function revokeOpenMandate(
  id: string,
  comment: string,
  context: WriteContext<typeof mandateRevokedEvent>,
): Promise<void> {
  const found = await lockMandate(id, context)
  if (found && isMandateOpen(found.mandate, context.now)) endByRevocation(found.mandate, comment, context)
}

/** Uses the tenant's clock. The second time changes nothing. */
export async function expireMandate(
  id: string,
  context: WriteContext<(typeof mandateSteps.expire)['emits']>,
): Promise<void> {
  const { now, emit, wake } = context
  const { mandate } = (await lockMandate(id, context)) ?? {}
  if (!mandate || mandate.expiresAt > now || !mandateMachine.move(mandate, 'expired')) return
  Object.assign(mandate, { suspendedBecause: null, endedAt: now })
  emit('mandate.expired', mandateEvent(mandate))
  wake(mandateProcess, mandate)
}

type Reacting = Context<never, typeof mandateSuspendedEvent>

/** The change of the agent holds the agent's lock, so its mandates approve no further intents. */
async function suspendOfAgent(
  agentId: string,
  because: MandateSuspensionReason,
  comment: string,
  context: Reacting,
): Promise<void> {
  const active = await context.em.find(Mandate, { agentId, status: 'active' }, FOR_UPDATE_BY_ID)
  for (const mandate of active) suspendMandate(mandate, because, comment, context)
}

const AGENTS_OF_SIGNER = `id in (
  select m.agent_id from mandates m where m.owner_id = ? and m.mode = ? and m.person_id = ? and m.${OPEN_MANDATE_SQL})`

export const mandateReactions = {
  'agent.frozen': reaction(AgentEvent, mandateSuspendedEvent, ({ agentId }, context) =>
    suspendOfAgent(agentId, 'agent_frozen', 'The agent was frozen.', context),
  ),
  'agent.deleting': reaction(AgentEvent, mandateSuspendedEvent, ({ agentId }, context) =>
    suspendOfAgent(agentId, 'agent_deleted', 'The agent is being deleted.', context),
  ),
  /** Locks agents first, as spending does. The removal has locked the tenant, so no mandate of this person is added. */
  'person.removed': reaction(
    personEvents['person.removed'],
    mandateSuspendedEvent,
    async ({ personId }, context) => {
      const { em, tenant } = context
      const values = [tenant.ownerId, tenant.mode, personId]
      await lockAgentsWhere(em, sqlCondition(AGENTS_OF_SIGNER, values))
      const active = { personId, status: 'active' } as const
      const mandates = await em.find(Mandate, active, FOR_UPDATE_BY_ID)
      for (const mandate of mandates)
        suspendMandate(mandate, 'signer_removed', 'The person who signed it was removed.', context)
    },
  ),
}

type Ended = Pick<Mandate, 'id' | 'status' | 'suspendedBecause' | 'endedAt' | 'updatedAt'>

const update = updateOf(tableOf(Mandate), ['status', 'suspendedBecause', 'endedAt', 'updatedAt'])

/** Ends mandates after their last payment, in the transaction of that payment. Their agents are locked. */
export class ExhaustedMandates {
  readonly #tenantNow: TenantNow
  readonly #ended = new Map<string, Ended>()

  constructor(tenantNow: TenantNow) {
    this.#tenantNow = tenantNow
  }

  /** Called once a payment on an intent of the mandate has been counted. */
  endIfUsedUp(
    id: string,
    counters: BudgetCounters,
    { emit, wake }: EmitContext<typeof mandateExhaustedEvent>,
  ): void {
    const mandate = findLoadedMandate(id, counters)
    if (!mandate || this.#ended.has(id) || !isMandateExhausted(mandate.constraints, counters.madeUses(id)))
      return
    if (!mandateMachine.move(mandate, 'exhausted')) return
    const { now } = this.#tenantNow
    const { agentId, personId, status, expiresAt } = mandate
    this.#ended.set(id, { id, status, suspendedBecause: null, endedAt: now, updatedAt: now })
    emit(
      'mandate.exhausted',
      mandateEvent({ id, agentId, personId, status, expiresAt, suspendedBecause: null }),
    )
    wake(mandateProcess, { id, agentId })
  }

  write(sql: Sql): Promise<void> {
    return update(sql, this.#tenantNow.tenant, [...this.#ended.values()])
  }
}
