import type { Context } from '../../kernel/contract/context.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { clock } from '../../values/clock.ts'
import { type apiKeyEvents, createDeviceKey, currentDeviceScopes, type IssuedApiKey } from '../keys/index.ts'
import { type SessionKind, type SessionRow, sessionsTable } from './session.ts'

type KeyRefusal = 'invalid_grant' | 'access_denied' | 'expired_token' | 'authorization_pending'

function refusalOf({ status, keyId, decidedAt, endsAt }: SessionRow): KeyRefusal | undefined {
  if (keyId !== null || status === 'void') return 'invalid_grant'
  if (status === 'denied' || status === 'revoked') return 'access_denied'
  if (status === 'expired' || endsAt <= clock.real()) return 'expired_token'
  return decidedAt === null ? 'authorization_pending' : undefined
}

/** A device sends no credential, so from here on the request acts for the tenant of the row. */
export async function actForTenantOf(
  { ownerId, mode }: SessionRow,
  { sql, switchTenant }: Context,
): Promise<void> {
  const tenant = { ownerId, mode }
  switchTenant(tenant, clock.tenant(mode === 'test' ? await readClockOffset(sql, tenant) : 0))
}

const writeKey = updateOf(sessionsTable, ['status', 'keyId', 'endsAt', 'updatedAt'])

/**
 * Issues the key of an approved request, once. The caller has locked the row, so only one of several concurrent
 * requests gets the key.
 */
export async function fetchKey(
  kind: SessionKind,
  session: SessionRow,
  context: Context<never, Pick<typeof apiKeyEvents, 'key.created'>>,
): Promise<IssuedApiKey | KeyRefusal> {
  const refusal = refusalOf(session)
  if (refusal) return refusal
  await actForTenantOf(session, context)
  const scopes = await currentDeviceScopes(session, context)
  if (scopes.length === 0) return 'access_denied'
  const { id: sessionId, deviceName: name, toolWrites, boundTo } = session
  const personId = String(session.personId)
  const key = createDeviceKey({ name, scopes, toolWrites, boundTo, personId, sessionId }, context)
  await context.em.flush()
  kind.machine.move(session, kind.fetched)
  const endsAt = kind.becomesSession && key.endsAt ? key.endsAt : session.endsAt
  const written = { ...session, keyId: key.id, endsAt, updatedAt: clock.real() }
  await writeKey(context.sql, session, [written])
  return key
}
