import { hash } from 'node:crypto'
import { after, clock } from '../../values/clock.ts'
import { type Call, identityOf, type Outcome } from '../contract/call.ts'
import { Problem } from '../contract/problem.ts'
import type { Sql } from '../contract/sql.ts'
import type { IdempotencyRow } from './journal.ts'

export const KEPT_FOR = 24 * 3_600_000
/** An outside call that has not come back for this long is taken for crashed. */
const OUTSIDE_LEASE = 120_000

export interface Claim {
  readonly key: string
  readonly operation: string
  readonly ownerId: string
  readonly mode: string
  readonly agentId: string
  readonly requestHash: string
}

/**
 * The key belongs to tenant, agent or delegation, and operation, not to the API key, which may rotate. Strangers share
 * no names: who guesses a key of one that calls without a credential meets him only with the very same body, secret
 * and all.
 */
export function claimOf(call: Call): Claim | null {
  if (!call.idempotencyKey) return null
  const { tenant, agentId, delegationId, type } = call.actor
  const requestHash = hash('sha256', JSON.stringify(call.input, plain), 'base64url')
  return {
    key: call.idempotencyKey,
    operation: call.operation.key,
    ownerId: tenant?.ownerId ?? type,
    mode: tenant?.mode ?? '',
    agentId: type === 'public' ? requestHash : (delegationId ?? agentId ?? ''),
    requestHash,
  }
}

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

export const lockName = (claim: Claim): string =>
  `${identityOf({ ownerId: claim.ownerId, mode: claim.mode as 'test' }, claim.agentId)}|${claim.operation}|${claim.key}`

export interface Kept {
  position: number
  request_hash: string
  status: number | null
  body: string | null
  error_code: string | null
  reservation: unknown
  age_ms: string | bigint
}

/** One by one through the primary key: left to itself, PostgreSQL reads the whole of a table that it has not analysed yet. */
const LOOKUP = `
select n::int as position, k.request_hash, k.status, k.body, k.error_code, k.reservation,
  (extract(epoch from clock_timestamp() - k.created_at) * 1000)::bigint as age_ms
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
  with ordinality as c(owner_id, mode, agent_id, operation, key, n)
cross join lateral (
  select * from idempotency_keys
  where (owner_id, mode, agent_id, operation, key) = (c.owner_id, c.mode, c.agent_id, c.operation, c.key)
  limit 1
) k
where k.created_at > $6`

/** What is kept under these keys; call it only while their locks are held. */
export async function lookUp(sql: Sql, claims: readonly Claim[]): Promise<Map<Claim, Kept>> {
  if (claims.length === 0) return new Map()
  const column = (name: keyof Claim) => claims.map(claim => claim[name])
  const rows = await sql<Kept & Record<string, unknown>>(LOOKUP, [
    ...(['ownerId', 'mode', 'agentId', 'operation', 'key'] as const).map(column),
    after(clock.real(), -KEPT_FOR),
  ])
  return new Map(rows.map(row => [claims[row.position - 1] as Claim, row]))
}

export const inProgress = (): Problem => new Problem('in_progress', undefined, { 'Retry-After': '1' })

/** The stored answer; undefined where an outside call was begun and never finished, and its lease is over. */
export function replay(claim: Claim, kept: Kept): Outcome | undefined {
  if (kept.request_hash !== claim.requestHash) throw new Problem('idempotency_key_reused')
  if (kept.status !== null) {
    const error = kept.error_code === null ? {} : { errorCode: kept.error_code }
    return { status: kept.status, body: kept.body, replayed: true, ...error }
  }
  if (Number(kept.age_ms) < OUTSIDE_LEASE) throw inProgress()
  return undefined
}

export const keep = (claim: Claim, outcome: Outcome): IdempotencyRow => ({
  ...claim,
  status: outcome.status,
  body: outcome.stored ?? (outcome.body as string | null),
  errorCode: outcome.errorCode ?? null,
  reservation: null,
  createdAt: clock.real(),
})

export const keepReservation = (claim: Claim, reservation: unknown): IdempotencyRow => ({
  ...claim,
  status: null,
  body: null,
  errorCode: null,
  reservation,
  createdAt: clock.real(),
})
