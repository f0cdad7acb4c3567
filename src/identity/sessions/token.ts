import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { offsetOf } from '../../kernel/database/tenant-clock.ts'
import { updateOf } from '../../record-store/index.ts'
import { after, clock } from '../../values/clock.ts'
import { currentScopes, type MadeKey, makeDeviceKey } from '../keys/index.ts'
import { DEVICE_GRANT, type deviceApi } from './device-api.ts'
import {
  INTERVAL_S,
  lockByDeviceCode,
  MOST_INTERVAL_S,
  type SessionRow,
  sessionMachine,
  sessionsTable,
} from './session.ts'

function finalRefusal({ status, keyId, endsAt }: SessionRow) {
  if (keyId !== null) return 'invalid_grant'
  if (status === 'denied' || status === 'revoked') return 'access_denied'
  return endsAt <= clock.real() || status === 'expired' ? 'expired_token' : undefined
}

const writePoll = updateOf(sessionsTable, ['polledAt', 'intervalSeconds', 'updatedAt'])

async function recordPoll(session: SessionRow, sql: Sql): Promise<'authorization_pending' | 'slow_down'> {
  const now = clock.real()
  const { id, polledAt, intervalSeconds } = session
  const isEarly = polledAt !== null && now < after(polledAt, intervalSeconds * 1_000)
  const next = isEarly ? Math.min(intervalSeconds + INTERVAL_S, MOST_INTERVAL_S) : intervalSeconds
  await writePoll(sql, session, [{ id, polledAt: now, intervalSeconds: next, updatedAt: now }])
  return isEarly ? 'slow_down' : 'authorization_pending'
}

/** The row stays locked, so only one of several concurrent requests gets the key. */
export const token: HandlerOf<typeof deviceApi.token> = async ({ body }, context) => {
  const { sql, switchTenant, refuse } = context
  if (body.grant_type !== undefined && body.grant_type !== DEVICE_GRANT)
    return refuse('unsupported_grant_type')
  const session = await lockByDeviceCode(sql, body.deviceCode ?? body.device_code ?? '')
  if (!session) return refuse('invalid_grant')
  const never = finalRefusal(session)
  if (never) return refuse(never)
  if (session.status === 'requested') return refuse(await recordPoll(session, sql))
  const { ownerId, mode } = session
  const tenant = { ownerId, mode }
  switchTenant(tenant, clock.tenant(mode === 'test' ? await offsetOf(sql, tenant) : 0))
  return issueKey(session, context)
}

type Fetching = Parameters<typeof token>[1]

const writeKey = updateOf(sessionsTable, ['status', 'keyId', 'endsAt', 'updatedAt'])

async function issueKey(session: SessionRow, context: Fetching) {
  const { records, sql, refuse } = context
  const scopes = await currentScopes(session, context)
  if (scopes.length === 0) return refuse('access_denied')
  const { id: sessionId, deviceName: name, toolWrites, boundTo } = session
  const personId = String(session.personId)
  const key = makeDeviceKey({ name, scopes, toolWrites, boundTo, personId, sessionId }, context)
  await records.flush()
  sessionMachine.move(session, 'active')
  const endsAt = key.endsAt ?? session.endsAt
  await writeKey(sql, session, [
    { id: sessionId, status: session.status, keyId: key.id, endsAt, updatedAt: clock.real() },
  ])
  return tokenResponse(sessionId, key)
}

/** Uses the service's member names, and also those of OAuth for clients of the standard. */
function tokenResponse(sessionId: string, key: MadeKey) {
  const { id: keyId, environment, scopes, toolWrites, boundTo, expiresAt } = key
  return {
    sessionId,
    keyId,
    key: key.key,
    environment,
    scopes,
    toolWrites,
    boundTo,
    expiresAt,
    access_token: key.key,
    token_type: 'Bearer' as const,
    expires_in: Math.floor(((expiresAt?.getTime() ?? 0) - clock.milliseconds()) / 1_000),
    scope: scopes.join(' '),
  }
}
