import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import { parseExactly, type TrailEntry } from '../../trail/index.ts'

/** The columns of an event, all of them: each is in its leaf. */
export const EVENT_COLUMNS = `e.id, e.owner_id as "ownerId", e.mode, e.agent_id as "agentId", e.event, e.data::text as data,
  e.request_id as "requestId", e.run_id as "runId", e.created_at as "createdAt", e.actor_type as "actorType",
  e.actor_id as "actorId", e.action, e.outcome, e.resource_id as "resourceId", e.address, e.recorded_at as at,
  e.audit_id as "auditId", e.written_in::text as "writtenIn"`

/** An event as it is read to be sealed or verified. */
export interface EventRow extends Tenant, Record<string, unknown> {
  readonly id: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly event: string
  readonly data: string
  readonly requestId: string
  readonly runId: string | null
  readonly createdAt: Date
  readonly actorType: string
  readonly actorId: string | null
  readonly action: string
  readonly outcome: string
  readonly resourceId: string
  readonly address: string | null
  readonly at: Date
  readonly auditId: string | null
  readonly writtenIn: string
}

/** The entry of an event, with the members of its leaf. */
export const entryOf = (row: EventRow): TrailEntry => ({
  action: row.action,
  actorId: row.actorId,
  actorType: row.actorType,
  address: row.address,
  agentId: row.agentId,
  at: row.at.toISOString(),
  auditId: row.auditId,
  createdAt: row.createdAt.toISOString(),
  data: parseExactly(row.data) as TrailEntry['data'],
  event: row.event,
  eventId: row.id,
  id: row.auditId ?? row.id.replace('event', 'audit'),
  mode: row.mode,
  outcome: row.outcome,
  ownerId: row.ownerId,
  requestId: row.requestId,
  resourceId: row.resourceId,
  runId: row.runId,
  writtenIn: row.writtenIn,
})
