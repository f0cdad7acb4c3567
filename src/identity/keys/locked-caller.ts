import type { Actor, Mode } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type Condition, sqlCondition } from '../../kernel/contract/records.ts'
import { type Role, roleScopes, type Scope, scopes } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { clock } from '../../values/clock.ts'
import { Key, MAX_KEYS } from './key.ts'

type Limits = Pick<Key, 'idleDays' | 'boundTo' | 'sessionId' | 'personId'>

/** The key or the session of a person that a request came with: what it makes can do no more, and lasts no longer. */
export interface LockedCaller {
  /** Null in the console. */
  readonly keyId: string | null
  /** Null = every scope, future ones included. */
  readonly granted: Scope[] | null
  /** Whether it may make keys that change things by the tools of an assistant; a person in the console signs for those. */
  readonly toolWrites: boolean
  /** Null in the console: what a person makes does not end with the session. */
  readonly expiresAt: Date | null
  /**
   * Limits of a device's key, which its keys have, too: none of them is easier to steal, and none is left once the session is
   * ended or the person has gone.
   */
  readonly limits: Limits
}

/** A key that is bound to a device gets no secret that works elsewhere: not that of a key that is bound otherwise, or to none. */
export const holdsBindingOf = ({ limits }: LockedCaller, { boundTo }: Pick<Key, 'boundTo'>): boolean =>
  limits.boundTo === null || limits.boundTo === boundTo

type LockContext = Pick<Context, 'records' | 'sql' | 'actor'>

/** Locks the caller, so that one that is being ended cannot create credentials at the same time. */
export const lockCaller = (context: LockContext): Promise<LockedCaller> =>
  context.actor.type === 'console' ? lockSession(context) : lockKey(context)

async function lockKey({ records, actor }: LockContext): Promise<LockedCaller> {
  const key = await records.lock(Key, String(actor.id))
  if (!key?.isUsable()) throw new Problem('unauthenticated')
  const { id, granted, toolWrites, expiresAt, idleDays, boundTo, sessionId, personId } = key
  return { keyId: id, granted, toolWrites, expiresAt, limits: { idleDays, boundTo, sessionId, personId } }
}

const UNLIMITED: Limits = { idleDays: null, boundTo: null, sessionId: null, personId: null }

/** Whoever removes a person, or revokes a passkey, ends the sessions in the same transaction. */
const LOCK_SESSION = `
select p.role from console_sessions s
join people p on (p.owner_id, p.mode, p.id) = (s.owner_id, s.mode, s.person_id) and p.status = 'active'
where s.owner_id = $1 and s.mode = $2 and s.id = $3 and s.revoked_at is null and s.expires_at > $4
for update of s`

async function lockSession({ sql, actor: { tenant, sessionId } }: LockContext): Promise<LockedCaller> {
  const values = [tenant?.ownerId, tenant?.mode, sessionId, clock.real()]
  const [person] = await sql<Row & { role: Role }>(LOCK_SESSION, values)
  if (!person) throw new Problem('unauthenticated')
  const granted = person.role === 'owner' ? null : ([...roleScopes[person.role]] as Scope[])
  return { keyId: null, granted, toolWrites: true, expiresAt: null, limits: UNLIMITED }
}

/** The limits of what the caller makes in this mode: people, and the sessions of their devices, are of one mode alone. */
export const limitsIn = (mode: Mode, { limits }: LockedCaller, { tenant }: Pick<Actor, 'tenant'>): Limits =>
  tenant?.mode === mode ? limits : { ...limits, sessionId: null, personId: null }

/** Explains why a credential would outlive the key that creates it; undefined if it would not. */
export function expiryProblem(
  end: Date | null,
  { expiresAt }: Pick<LockedCaller, 'expiresAt'>,
): string | undefined {
  if (!expiresAt || (end && end <= expiresAt)) return undefined
  return `the calling key ends ${expiresAt.toISOString()}, and nothing that it makes lasts longer.`
}

/** The scopes of a new key that names none: those of its maker. null = every scope, future ones included. */
export const inheritedScopes = ({ granted }: LockedCaller): Scope[] | null =>
  granted && scopes.filter(scope => granted.includes(scope))

/** The keys that nobody has revoked and no time has ended. */
export const openAt = (now: Date): Condition<Key> => ({
  revokedAt: null,
  $and: [
    { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] },
    sqlCondition(
      `idle_days is null or coalesce(last_used_at, created_at) > ?::timestamptz - idle_days * interval '1 day'`,
      [now],
    ),
  ],
})

/** Serializes the check: the second of two concurrent requests sees the key that the first one creates. */
export async function hasActiveLiveKey(
  context: Pick<Context, 'records' | 'sql' | 'tenant'>,
  now: Date,
): Promise<boolean> {
  await lockTenant(context, 'live keys')
  return (await context.records.count(Key, openAt(now))) > 0
}

/** Whether no further key may be active in this mode. Serializes the check as above. */
export async function hasTooManyKeys(
  context: Pick<Context, 'records' | 'sql' | 'tenant'>,
  now: Date,
): Promise<boolean> {
  const [, active] = await Promise.all([lockTenant(context, 'keys'), context.records.count(Key, openAt(now))])
  return active >= MAX_KEYS
}
