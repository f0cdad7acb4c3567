import type { FilterQuery } from '@mikro-orm/core'
import type { Actor, Mode } from '../../kernel/contract/actor.ts'
import { inRange, sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { allScopeNames, type PersonRole, roleScopes, type Scope } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { clock } from '../../values/clock.ts'
import { ApiKey, MAX_API_KEYS } from './key.ts'

type Limits = Pick<ApiKey, 'idleDays' | 'boundTo' | 'sessionId' | 'personId'>

/** The calling key or console session. What it creates has no more rights and does not last longer. */
export interface LockedCaller {
  readonly keyId: string | null
  /** Null means every scope, including future ones. */
  readonly granted: Scope[] | null
  /** Whether it may create keys with MCP write access. In the console, a person signs for that. */
  readonly toolWrites: boolean
  /** Null in the console, where keys outlive the session that creates them. */
  readonly expiresAt: Date | null
  /**
   * Limits of a device's key, which its keys inherit, so that none is easier to steal and each ends with the
   * session or the person.
   */
  readonly limits: Limits
  /** The person who gets to know what it creates: their approval of what is asked for with that does not count. */
  readonly personId: string | null
}

/**
 * A key bound to a device never gets a secret that works elsewhere, neither that of an unbound key nor that
 * of one bound to another device.
 */
export const isBoundToSameDevice = (
  { limits }: LockedCaller,
  { boundTo }: Pick<ApiKey, 'boundTo'>,
): boolean => limits.boundTo === null || limits.boundTo === boundTo

/** Locks the caller, so that it cannot be revoked while it creates credentials. */
export const lockCaller = (context: WriteContext): Promise<LockedCaller> =>
  context.actor.type === 'console' ? lockSession(context) : lockKey(context)

async function lockKey({ em, actor }: WriteContext): Promise<LockedCaller> {
  const key = await em.findOne(ApiKey, { id: String(actor.id) }, FOR_UPDATE)
  if (!key?.isUsable()) throw new Problem('unauthenticated')
  const { id, granted, toolWrites, expiresAt, idleDays, boundTo, sessionId, personId, madeByPersonId } = key
  const limits = { idleDays, boundTo, sessionId, personId }
  return { keyId: id, granted, toolWrites, expiresAt, limits, personId: madeByPersonId ?? personId }
}

const UNLIMITED: Limits = { idleDays: null, boundTo: null, sessionId: null, personId: null }

/** Removing a person or revoking a passkey ends the sessions in the same transaction. */
const LOCK_SESSION = `
select p.role from console_sessions s
join people p on (p.owner_id, p.mode, p.id) = (s.owner_id, s.mode, s.person_id) and p.status = 'active'
where s.owner_id = $1 and s.mode = $2 and s.id = $3 and s.revoked_at is null and s.expires_at > $4
for update of s`

async function lockSession({ sql, actor: { id, tenant, sessionId } }: WriteContext): Promise<LockedCaller> {
  const values = [tenant?.ownerId, tenant?.mode, sessionId, clock.real()]
  const [person] = await sql<Row & { role: PersonRole }>(LOCK_SESSION, values)
  if (!person) throw new Problem('unauthenticated')
  const granted = person.role === 'owner' ? null : ([...roleScopes[person.role]] as Scope[])
  return { keyId: null, granted, toolWrites: true, expiresAt: null, limits: UNLIMITED, personId: id }
}

/** What a key of this mode has of its caller, since people and their device sessions exist in one mode only. */
export const inheritedInMode = (
  mode: Mode,
  { limits, personId }: LockedCaller,
  { tenant }: Pick<Actor, 'tenant'>,
): Limits & Pick<ApiKey, 'madeByPersonId'> =>
  tenant?.mode === mode
    ? { ...limits, madeByPersonId: personId }
    : { ...limits, sessionId: null, personId: null, madeByPersonId: null }

export function keyExpiryProblem(
  end: Date | null,
  { expiresAt }: Pick<LockedCaller, 'expiresAt'>,
): string | undefined {
  if (!expiresAt || (end && end <= expiresAt)) return undefined
  return `the calling key expires ${expiresAt.toISOString()}, and its keys cannot expire later.`
}

/** A new key without named scopes gets those of its creator. Null means every scope, including future ones. */
export const inheritedScopes = ({ granted }: LockedCaller): Scope[] | null =>
  granted && allScopeNames.filter(scope => granted.includes(scope))

export const activeKeyCondition = (now: Date): FilterQuery<ApiKey> => ({
  revokedAt: null,
  $and: [
    { $or: [{ expiresAt: null }, { expiresAt: inRange({ gt: now }) }] },
    sqlCondition(
      `idle_days is null or coalesce(last_used_at, created_at) > ?::timestamptz - idle_days * interval '1 day'`,
      [now],
    ),
  ],
})

/** Serializes the check, so that the second of two concurrent requests sees the first one's key. */
export async function hasActiveLiveKey(context: ReadContext, now: Date): Promise<boolean> {
  await lockTenant(context, 'live keys')
  return (await context.em.count(ApiKey, activeKeyCondition(now))) > 0
}

export async function hasTooManyApiKeys(context: ReadContext, now: Date): Promise<boolean> {
  const [, active] = await Promise.all([
    lockTenant(context, 'keys'),
    context.em.count(ApiKey, activeKeyCondition(now)),
  ])
  return active >= MAX_API_KEYS
}
