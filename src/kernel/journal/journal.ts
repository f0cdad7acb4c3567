import type { Tenant } from '../contract/actor.ts'
import type { ProcessStartInput } from '../contract/process.ts'
import type { Sql } from '../contract/sql.ts'
import type { NotifyChannel } from './outbox.ts'

export interface EventRow {
  id: string
  ownerId: string
  mode: Tenant['mode']
  agentId: string | null
  event: string
  data: Readonly<Record<string, unknown>>
  requestId: string
  runId: string | null
  createdAt: Date
}

/** An event as stored, with its cause: what webhooks send, and an entry of the audit trail. */
export interface JournalRow extends EventRow {
  actorType: string
  actorId: string | null
  action: string
  outcome: string
  resourceId: string
  address: string | null
  /** The span of the operation, where its trace is sampled: what follows from the event is below it. */
  traceparent?: string | undefined
  /** In real time; `createdAt` is in the tenant's. */
  recordedAt: Date
  /** Whether an earlier event of the call has the same one: see `call-events.ts`. */
  sameRequest: boolean
  sameAgent: boolean
  sameResource: boolean
}

export interface IdempotencyRow {
  ownerId: string
  mode: string
  agentId: string
  operation: string
  key: string
  requestHash: string
  /** Null while an external call is running. */
  status: number | null
  body: string | null
  errorCode: string | null
  /** The header `Link` of the answer. */
  link: string | null
  reservation: unknown
  leasedBy: string | null
  /** The request that has reserved the call. */
  reservedBy: string | null
  askedBy: string | null
  createdAt: Date
}

/** A message for Temporal: start the process of a record, or signal the running one that the record has changed. */
export interface OutboxRow {
  id: string
  ownerId: string
  mode: Tenant['mode']
  process: string
  recurs: boolean
  workflowId: string
  input: ProcessStartInput
  createdAt: Date
}

export interface PendingJournal {
  events: JournalRow[]
  idempotency: IdempotencyRow[]
  outbox: OutboxRow[]
}

export const emptyJournal = (): PendingJournal => ({ events: [], idempotency: [], outbox: [] })

const STATEMENT = `
with e as (
  insert into events (id, owner_id, mode, agent_id, event, data, request_id, run_id, created_at, actor_type, actor_id,
    action, outcome, resource_id, address, recorded_at, same_request, same_agent, same_resource, traceparent)
  select id, "ownerId", mode, "agentId", event, data, "requestId", "runId", "createdAt", "actorType", "actorId",
    action, outcome, "resourceId", address, "recordedAt", "sameRequest", "sameAgent", "sameResource",
    traceparent
  from jsonb_to_recordset($1::jsonb) as r(id text, "ownerId" text, mode text, "agentId" text, event text,
    data jsonb, "requestId" text, "runId" text, "createdAt" timestamptz, "actorType" text, "actorId" text, action text,
    outcome text, "resourceId" text, address text, "recordedAt" timestamptz, "sameRequest" boolean, "sameAgent" boolean,
    "sameResource" boolean, traceparent text)
), o as (
  insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
  select id, "ownerId", mode, process, recurs, "workflowId", input, "createdAt", "createdAt"
  from jsonb_to_recordset($3::jsonb) as r(id text, "ownerId" text, mode text, process text, recurs boolean, "workflowId" text,
    input jsonb, "createdAt" timestamptz)
), i as (
  insert into idempotency_keys as kept (owner_id, mode, agent_id, operation, key, request_hash, status, body,
    error_code, link, reservation, leased_by, reserved_by, asked_by, created_at)
  select "ownerId", mode, "agentId", operation, key, "requestHash", status, body, "errorCode", link, reservation,
    "leasedBy", "reservedBy", "askedBy", "createdAt"
  from jsonb_to_recordset($2::jsonb) as r("ownerId" text, mode text, "agentId" text, operation text, key text,
    "requestHash" text, status int, body text, "errorCode" text, link text, reservation jsonb, "leasedBy" text,
    "reservedBy" text, "askedBy" text, "createdAt" timestamptz)
  on conflict (owner_id, mode, agent_id, operation, key) do update
    set request_hash = excluded.request_hash, status = excluded.status, body = excluded.body,
      error_code = excluded.error_code, link = excluded.link, reservation = excluded.reservation, leased_by = excluded.leased_by,
      reserved_by = excluded.reserved_by, asked_by = excluded.asked_by, created_at = excluded.created_at
)
select publish_events($1::jsonb, $4::text[]) as deliveries, publish_pushes($1::jsonb, $4::text[]) as pushes,
  publish_channel_messages($1::jsonb, $4::text[]) as channel_messages,
  (select count(*)::int from (select from event_streams where owner_id = any($4::text[]) limit 1) followed) as events`

/** New rows per channel (for `events`: whether someone follows them), by which listeners are notified. */
export type NewRowCounts = Readonly<Record<NotifyChannel, number>>

/** For a transaction whose commit succeeded while its connection was lost: every channel may have new rows. */
export const POSSIBLY_NEW_ROWS: NewRowCounts = {
  outbox: 1,
  deliveries: 1,
  pushes: 1,
  channel_messages: 1,
  events: 1,
}

const NO_NEW_ROWS: NewRowCounts = { outbox: 0, deliveries: 0, pushes: 0, channel_messages: 0, events: 0 }

/** Writes the journal of a request or a whole batch in one statement. */
export async function writeJournal(sql: Sql, journal: PendingJournal): Promise<NewRowCounts> {
  const { events, idempotency, outbox } = journal
  const kinds = [events, idempotency, outbox]
  if (kinds.every(rows => rows.length === 0)) return NO_NEW_ROWS
  const owners = [...new Set(events.map(({ ownerId }) => ownerId))]
  const [published] = await sql<Omit<NewRowCounts, 'outbox'>>(STATEMENT, [
    ...kinds.map(rows => JSON.stringify(rows)),
    owners,
  ])
  return { ...NO_NEW_ROWS, ...published, outbox: outbox.length }
}
