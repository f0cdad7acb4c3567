import { z } from 'zod'
import type { Call, Outcome } from './call.ts'
import { clock } from './clock.ts'
import type { Tenant } from './context.ts'
import { newId } from './ids.ts'
import type { AuditRow, EventRow } from './journal.ts'
import type { AnyOperation, Events, Failure } from './operation.ts'
import { Refusal } from './problem.ts'

export const refusalOf = (operation: AnyOperation, code: string, message?: string): Refusal => {
  const failure: Failure | undefined = operation.fails?.[code]
  if (!failure) throw new Error(`${operation.path} does not declare the refusal ${code}`)
  return new Refusal(failure[0], code, message ?? failure[1])
}

/** An event of this call, checked against the schema it was declared with. */
export function eventOf(
  declared: Events,
  event: string,
  data: unknown,
  { tenant, now, requestId }: { tenant: Tenant; now: Date; requestId: string },
): EventRow {
  const schema = declared[event]
  if (!schema) throw new Error(`the event ${event} is not declared`)
  const wire = z.encode(schema, data) as { agentId?: string }
  return {
    id: newId('event'),
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    agentId: wire.agentId ?? null,
    event,
    data: wire,
    requestId,
    createdAt: now,
  }
}

/** Who did what to which record, on whose behalf and from where. */
export function auditOf(
  call: Call,
  tenant: Tenant | null,
  outcome: Outcome & { resourceId?: string },
): AuditRow {
  const { actor, input, operation } = call
  return {
    id: newId('audit'),
    ownerId: tenant?.ownerId ?? null,
    mode: tenant?.mode ?? null,
    actorType: actor.type,
    actorId: actor.id,
    action: operation.key,
    outcome: outcome.errorCode ?? 'done',
    resourceId: outcome.resourceId ?? Object.values(input.params).at(-1) ?? null,
    agentId: actor.agentId,
    requestId: call.requestId,
    address: call.address,
    at: clock.real(),
  }
}

/** A refusal that caused nothing leaves no trace; every change does. */
export const isWorthAuditing = (call: Call, outcome: Outcome, events: readonly EventRow[]): boolean =>
  !call.operation.operation.readOnly && (outcome.errorCode === undefined || events.length > 0)
