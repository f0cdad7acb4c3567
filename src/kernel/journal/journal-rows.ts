import { clock } from '../../values/clock.ts'
import { IDS_IN_A_ROW, idInRow, newId } from '../../values/ids.ts'
import { encodeJson } from '../../values/json-names.ts'
import { formatDecimal } from '../../values/money.ts'
import type { Tenant, TenantNow } from '../contract/actor.ts'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import type { EventSchemas } from '../contract/events.ts'
import type { AnyOperation, RefusalSpec } from '../contract/operation.ts'
import { Refusal } from '../contract/problem.ts'
import { type DurableProcess, type ProcessRecord, workflowIdOf } from '../contract/process.ts'
import type { EventRow, JournalRow, OutboxRow } from './journal.ts'
import { workflowRunSummary } from './outbox.ts'

export const buildRefusal = (operation: AnyOperation, code: string, message?: string): Refusal => {
  const failure: RefusalSpec | undefined = operation.fails?.[code]
  if (!failure) throw new Error(`${operation.path} does not declare the refusal ${code}`)
  return new Refusal(failure[0], code, message ?? failure[1])
}

interface EventSource extends TenantNow {
  readonly requestId: string
  readonly runId: string | null
}

/** The data are checked against the schema that the operation declared. */
export function buildEvent(
  declared: EventSchemas,
  event: string,
  data: unknown,
  { tenant, now, requestId, runId }: EventSource,
): EventRow {
  const schema = declared[event]
  if (!schema) throw new Error(`the event ${event} is not declared`)
  const wire = encodeJson(schema, data) as EventRow['data']
  return {
    id: newId('event'),
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    agentId: textOrNull(wire.agentId),
    event,
    data: wire,
    requestId,
    // An event of a record that belongs to a run belongs to the run, even if the request names none.
    runId: runId ?? textOrNull(wire.runId),
    createdAt: now,
  }
}

const textOrNull = (id: unknown): string | null => (typeof id === 'string' ? id : null)

/**
 * The events of a call get ids that follow each other, so that an index needs an entry for the first one only. A purge
 * that keeps entries from an instant on keeps all of a call or none.
 */
export function buildJournalRows(
  { actor, operation, address, traceparent }: ApiCall,
  events: readonly EventRow[],
  outcome: ApiResponse,
): JournalRow[] {
  const recordedAt = clock.real()
  const seen = new Set<string>()
  const isRepeated = (...shared: readonly (string | null)[]): boolean => {
    const before = seen.size
    return seen.add(shared.join(' ')).size === before
  }
  return events.map((event, n) => {
    const place = n % IDS_IN_A_ROW
    if (place === 0) seen.clear()
    const { ownerId, mode, requestId, agentId } = event
    // The first member of an event's data is the id of its record.
    const resourceId = String(Object.values(event.data)[0])
    return {
      ...event,
      id: idInRow(events[n - place]?.id ?? event.id, place),
      actorType: actor.type,
      actorId: actor.id,
      action: operation.key,
      outcome: outcome.errorCode ?? 'done',
      resourceId,
      address,
      traceparent,
      recordedAt,
      sameRequest: isRepeated(ownerId, mode, 'request', requestId),
      sameAgent: isRepeated(ownerId, mode, 'agent', agentId),
      sameResource: isRepeated(ownerId, mode, 'resource', resourceId),
    }
  })
}

/** Temporal's signal-with-start decides whether it starts the process or signals the running one. */
export const buildWakeUpRow = (
  process: DurableProcess,
  { ownerId, mode }: Tenant,
  record: ProcessRecord,
): OutboxRow => ({
  id: newId('outbox'),
  ownerId,
  mode,
  process: process.name,
  recurs: process.recurs ?? false,
  workflowId: workflowIdOf(process, record.id),
  input: inputOf(process, { ownerId, mode }, record),
  createdAt: clock.real(),
})

export const withTraceparent = (row: OutboxRow, traceparent: string | undefined): OutboxRow =>
  traceparent === undefined ? row : { ...row, input: { ...row.input, traceparent } }

/** Includes the summary of the run, if more than the record's ids is known. */
function inputOf(
  process: DurableProcess,
  { ownerId, mode }: Tenant,
  record: ProcessRecord,
): OutboxRow['input'] {
  const { id, agentId, status, amountCents, about } = record
  const deadline = (record.dueAt ?? record.expiresAt)?.toISOString()
  const input = {
    ...{ id, ownerId, mode, agentId },
    ...(status !== undefined && { status }),
    ...(amountCents !== undefined && { amount: Number(formatDecimal(amountCents)) }),
    ...(deadline !== undefined && { deadline }),
  }
  if (amountCents === undefined && about === undefined) return input
  return { ...input, summary: workflowRunSummary(process, mode, record) }
}
