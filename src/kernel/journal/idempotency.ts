import { hash } from 'node:crypto'
import { addMs, clock } from '../../values/clock.ts'
import { callerOf } from '../contract/actor.ts'
import { type ApiCall, type ApiResponse, tenantKey } from '../contract/call.ts'
import { repeatsForCaller } from '../contract/operation.ts'
import { Problem } from '../contract/problem.ts'
import type { Sql } from '../contract/sql.ts'
import type { ProcessLease } from '../database/process-lease.ts'
import type { IdempotencyRow } from './journal.ts'

export const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000
/** An external call without an outcome for this long counts as crashed, even where its process lives. */
export const MAX_CALL_MS = 120_000

export interface ScopedIdempotencyKey {
  readonly key: string
  readonly operation: string
  readonly ownerId: string
  readonly mode: string
  readonly agentId: string
  readonly requestHash: string
  readonly askedBy: string | null
}

/**
 * Keys are scoped to tenant, agent or delegation, and operation, not to the API key, which may rotate.
 * Public calls have no tenant, so their keys are scoped to the body: guessing a stranger's key needs the
 * stranger's whole request.
 */
export function scopedIdempotencyKey(call: ApiCall): ScopedIdempotencyKey | null {
  if (!call.idempotencyKey) return null
  const { tenant, agentId, delegationId, type } = call.actor
  return {
    key: call.idempotencyKey,
    operation: call.operation.key,
    ownerId: tenant?.ownerId ?? type,
    mode: tenant?.mode ?? '',
    agentId: type === 'public' ? hashBy070(call) : (delegationId ?? agentId ?? ''),
    requestHash: hashOfSent(call),
    askedBy: callerOf(call.actor),
  }
}

/** In front of the hash of what was sent: 0.7.0 had another one, of the input with the defaults of its contracts. */
const OF_SENT = 'sent '

/** The hash of what the client has sent, without the defaults of its contract, which change. The order of members makes no difference. */
const hashOfSent = ({ input, sent = input }: ApiCall): string =>
  OF_SENT + digest({ params: input.params, query: sent.query, body: sent.body }, inOrder)

function hashBy070({ input, sent = input, operation }: ApiCall): string {
  const given = sent.body as object
  const unknown = operation.operation.defaultsSince070?.filter(name => !Object.hasOwn(given, name)) ?? []
  const body = Object.entries(input.body).filter(([name]) => !unknown.includes(name))
  return digest({ ...input, body: Object.fromEntries(body) }, bigIntsAsText)
}

/**
 * Throws where the key stands for another request: each stored hash is compared by the way in which it was made. Of the keys
 * of 0.7.0 it is not known who has asked.
 */
export function assertSameRequest(
  { requestHash, askedBy }: ScopedIdempotencyKey,
  stored: StoredAnswer,
  call: ApiCall,
): void {
  const { request_hash, asked_by } = stored
  if (request_hash !== (request_hash.startsWith(OF_SENT) ? requestHash : hashBy070(call)))
    throw new Problem('idempotency_key_reused')
  if (repeatsForCaller(call.operation.operation) && asked_by !== null && asked_by !== askedBy)
    throw new Problem(
      'idempotency_key_reused',
      'Another credential has used this Idempotency-Key. Use a new key.',
    )
}

const digest = (value: object, replacer: (name: string, value: unknown) => unknown): string =>
  hash('sha256', JSON.stringify(value, replacer), 'base64url')

const bigIntsAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value

function inOrder(name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bigIntsAsText(name, value)
  const members = value as Record<string, unknown>
  return Object.fromEntries(
    Object.keys(members)
      .sort()
      .map(member => [member, members[member]]),
  )
}

export const idempotencyLockName = ({
  ownerId,
  mode,
  agentId,
  operation,
  key,
}: Omit<ScopedIdempotencyKey, 'requestHash' | 'askedBy'>): string =>
  `${tenantKey({ ownerId, mode: mode as 'test' }, agentId)}|${operation}|${key}`

export interface StoredAnswer {
  position: number
  request_hash: string
  asked_by: string | null
  status: number | null
  body: string | null
  error_code: string | null
  link: string | null
  reservation: unknown
  age_ms: string | bigint
  leased_by: string | null
  is_left: boolean
}

/**
 * The lateral join looks up each key by the primary key; otherwise PostgreSQL scans a table that it has not
 * analysed yet.
 */
const LOOKUP = `
select n::int as position, k.request_hash, k.asked_by, k.status, k.body, k.error_code, k.link, k.reservation,
  (extract(epoch from clock_timestamp() - k.created_at) * 1000)::bigint as age_ms, k.leased_by,
  k.leased_by is not null and not exists (
    select from process_leases p where p.id = k.leased_by and p.held_until > clock_timestamp()) as is_left
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
  with ordinality as c(owner_id, mode, agent_id, operation, key, n)
cross join lateral (
  select * from idempotency_keys
  where (owner_id, mode, agent_id, operation, key) = (c.owner_id, c.mode, c.agent_id, c.operation, c.key)
  limit 1
) k
where k.created_at > $6`

export async function findStoredAnswers(
  sql: Sql,
  keys: readonly ScopedIdempotencyKey[],
): Promise<Map<ScopedIdempotencyKey, StoredAnswer>> {
  if (keys.length === 0) return new Map()
  const column = (name: keyof ScopedIdempotencyKey) => keys.map(key => key[name])
  const rows = await sql<StoredAnswer & Record<string, unknown>>(LOOKUP, [
    ...(['ownerId', 'mode', 'agentId', 'operation', 'key'] as const).map(column),
    addMs(clock.real(), -IDEMPOTENCY_RETENTION_MS),
  ])
  return new Map(rows.map(row => [keys[row.position - 1] as ScopedIdempotencyKey, row]))
}

export const inProgressProblem = (): Problem => new Problem('in_progress', undefined, { 'Retry-After': '1' })

/** The stored answer; undefined where an external call was reserved, never recorded, and its process seems dead. */
export function replayStoredAnswer(
  key: ScopedIdempotencyKey,
  stored: StoredAnswer,
  call: ApiCall,
): ApiResponse | undefined {
  assertSameRequest(key, stored, call)
  if (stored.status !== null) {
    const error = stored.error_code === null ? {} : { errorCode: stored.error_code }
    const headers = stored.link === null ? {} : { headers: { Link: stored.link } }
    return { status: stored.status, body: stored.body, replayed: true, ...error, ...headers }
  }
  if (!stored.is_left && !isOverdue(stored)) throw inProgressProblem()
  return undefined
}

const isOverdue = ({ age_ms }: StoredAnswer): boolean => Number(age_ms) >= MAX_CALL_MS

/** This process has just woken: it waits until each living process has renewed its lease, and tries again. */
export const CANNOT_TELL_YET = new Error('the process of this call may still live')

/** Waits for a renewal of the same lease: if that happens, the lease is not deleted, and its process lives. */
const MARK_DEAD = `
with marked as (
  delete from process_leases where id = $1 and $2 and held_until <= clock_timestamp() returning id
)
select exists (select from marked) or not exists (select from process_leases where id = $1) as dead`

/**
 * Marks the process that made the call as dead, so that it makes no further call if it was only paused.
 * Throws where it may still live.
 */
export async function takeOverAbandonedCall(
  sql: Sql,
  stored: StoredAnswer,
  { tellsDead, isNew }: Pick<ProcessLease, 'tellsDead' | 'isNew'>,
): Promise<void> {
  const { leased_by } = stored
  const [found] = leased_by ? await sql<{ dead: boolean }>(MARK_DEAD, [leased_by, tellsDead]) : []
  if (found?.dead || (tellsDead && isOverdue(stored))) return
  throw isNew ? CANNOT_TELL_YET : inProgressProblem()
}

/** The lease of no process: the next request with the key takes the call over. */
const LEFT = 'left'

const MARK_LEFT = `
update idempotency_keys set leased_by = '${LEFT}'
where (owner_id, mode, agent_id, operation, key) = ($1, $2, $3, $4, $5) and status is null and reserved_by = $6`

/**
 * Marks what the request has reserved under its key as left: it never deletes it, as the call may have been made. It waits
 * for the key, and so for a commit of the request whose fate is open.
 */
export async function markLeft(key: ScopedIdempotencyKey, reservedBy: string, sql: Sql): Promise<void> {
  await sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [idempotencyLockName(key)])
  const { ownerId, mode, agentId, operation, key: name } = key
  await sql(MARK_LEFT, [ownerId, mode, agentId, operation, name, reservedBy])
}

/** An answer that is not kept takes the place of a reservation, and has expired at once. */
export const idempotencyAnswerRow = (
  key: ScopedIdempotencyKey,
  outcome: ApiResponse,
  { isKept, reservation = null }: { readonly isKept: boolean; readonly reservation?: unknown },
): IdempotencyRow => ({
  ...key,
  status: outcome.status,
  body: outcome.stored ?? (outcome.body as string | null),
  errorCode: outcome.errorCode ?? null,
  link: outcome.headers?.Link ?? null,
  reservation,
  leasedBy: null,
  reservedBy: null,
  createdAt: isKept ? clock.real() : new Date(0),
})

export const idempotencyReservationRow = (
  key: ScopedIdempotencyKey,
  reservation: unknown,
  { lease = null, reservedBy = null }: { readonly [Name in 'lease' | 'reservedBy']?: string | null },
): IdempotencyRow => ({
  ...key,
  status: null,
  body: null,
  errorCode: null,
  link: null,
  reservation,
  leasedBy: lease,
  reservedBy,
  createdAt: clock.real(),
})
