import { findPerson } from '../../identity/people/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { Agent } from '../agents/index.ts'
import type { mandatesApi } from './api.ts'
import { isOpen, Mandate, mandateMachine, type Suspension } from './mandate.ts'
import { mandateProcess } from './process.ts'
import { mandateEvent, mandateResponse } from './response.ts'
import type { mandateSuspended } from './schemas.ts'

/** The agent of a mandate, which never changes. */
const AGENT_OF = 'id = (select m.agent_id from mandates m where m.owner_id = ? and m.mode = ? and m.id = ?)'

type Locking = Pick<Context, 'records' | 'tenant'>

/**
 * Locks the agent of a mandate first, as spending does, and then the mandate: nothing is approved by what the mandate was
 * before the change.
 */
export async function lockMandate(id: string, { records, tenant }: Locking) {
  const condition = sqlCondition(AGENT_OF, [tenant.ownerId, tenant.mode, id])
  const [agent, mandate] = await Promise.all([
    records.findOne(Agent, condition, { lock: true }),
    records.lock(Mandate, id),
  ])
  return agent && mandate && { agent, mandate }
}

type Suspending = Pick<Context<never, typeof mandateSuspended>, 'emit' | 'wake'>

/** Suspends an active mandate and tells it; does nothing where it is not active. */
export function suspendMandate(
  mandate: Mandate,
  because: Suspension,
  comment: string | null,
  { emit, wake }: Suspending,
): void {
  if (!mandateMachine.move(mandate, 'suspended')) return
  Object.assign(mandate, { suspendedBecause: because, comment })
  emit('mandate.suspended', mandateEvent(mandate, comment))
  wake(mandateProcess, mandate)
}

const overMessage = ({ status }: Mandate): string | undefined =>
  mandateMachine.isFinal(status) ? `The mandate is ${status} already.` : undefined

export const suspend: HandlerOf<typeof mandatesApi.suspend> = async ({ params, body }, context) => {
  const { now, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { mandate } = found
  if (!isOpen(mandate, now)) return refuse('mandate_over', overMessage(mandate))
  if (mandate.status === 'suspended') return refuse('mandate_suspended')
  suspendMandate(mandate, 'requested', body.comment, context)
  return mandateResponse(mandate, context)
}

export const resume: HandlerOf<typeof mandatesApi.resume> = async ({ params, body }, context) => {
  const { now, emit, wake, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { agent, mandate } = found
  if (!isOpen(mandate, now)) return refuse('mandate_over', overMessage(mandate))
  if (mandate.status === 'active') return refuse('mandate_active')
  if (agent.status !== 'active') return refuse('agent_not_active')
  const signer = await findPerson(mandate.personId, context)
  if (signer?.status !== 'active') return refuse('signer_removed')
  mandateMachine.move(mandate, 'active')
  Object.assign(mandate, { suspendedBecause: null, comment: body.comment })
  emit('mandate.resumed', mandateEvent(mandate, body.comment))
  wake(mandateProcess, mandate)
  return mandateResponse(mandate, context)
}

export const revoke: HandlerOf<typeof mandatesApi.revoke> = async ({ params, body }, context) => {
  const { now, emit, wake, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { mandate } = found
  if (!isOpen(mandate, now)) return refuse('mandate_over', overMessage(mandate))
  mandateMachine.move(mandate, 'revoked')
  Object.assign(mandate, { suspendedBecause: null, comment: body.comment, endedAt: now })
  emit('mandate.revoked', mandateEvent(mandate, body.comment))
  wake(mandateProcess, mandate)
  return mandateResponse(mandate, context)
}

/** Ends a mandate by the tenant's clock. Sweep and process may both try: the second changes nothing. */
export const expire: HandlerOf<typeof mandatesApi.expire> = async ({ params }, context) => {
  const { now, emit, wake, refuse } = context
  const found = await lockMandate(params.id, context)
  if (!found) return refuse('mandate_not_found')
  const { mandate } = found
  if (mandate.expiresAt > now || !mandateMachine.move(mandate, 'expired')) return { expired: false }
  Object.assign(mandate, { suspendedBecause: null, endedAt: now })
  emit('mandate.expired', mandateEvent(mandate))
  wake(mandateProcess, mandate)
  return { expired: true }
}
