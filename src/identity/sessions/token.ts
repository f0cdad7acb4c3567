import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { addMs, clock } from '../../values/clock.ts'
import { createDeviceKey, currentDeviceScopes, type IssuedApiKey } from '../keys/index.ts'
import { DEVICE_CODE_GRANT_TYPE, type deviceAuthorizationApi } from './device-api.ts'
import {
  DEVICE_POLL_INTERVAL_S,
  type DeviceSessionRow,
  deviceSessionMachine,
  deviceSessionsTable,
  lockSessionByDeviceCode,
  MAX_POLL_INTERVAL_S,
} from './session.ts'

function finalRefusal({ status, keyId, endsAt }: DeviceSessionRow) {
  if (keyId !== null) return 'invalid_grant'
  if (status === 'denied' || status === 'revoked') return 'access_denied'
  return endsAt <= clock.real() || status === 'expired' ? 'expired_token' : undefined
}

const writePoll = updateOf(deviceSessionsTable, ['polledAt', 'intervalSeconds', 'updatedAt'])

async function recordPoll(
  session: DeviceSessionRow,
  sql: Sql,
): Promise<'authorization_pending' | 'slow_down'> {
  const now = clock.real()
  const { id, polledAt, intervalSeconds } = session
  const isEarly = polledAt !== null && now < addMs(polledAt, intervalSeconds * 1_000)
  const next = isEarly
    ? Math.min(intervalSeconds + DEVICE_POLL_INTERVAL_S, MAX_POLL_INTERVAL_S)
    : intervalSeconds
  await writePoll(sql, session, [{ id, polledAt: now, intervalSeconds: next, updatedAt: now }])
  return isEarly ? 'slow_down' : 'authorization_pending'
}

/** The row stays locked, so only one of several concurrent requests gets the key. */
export const issueDeviceToken: HandlerOf<typeof deviceAuthorizationApi.token> = async ({ body }, context) => {
  const { sql, switchTenant, refuse } = context
  if (body.grant_type !== undefined && body.grant_type !== DEVICE_CODE_GRANT_TYPE)
    return refuse('unsupported_grant_type')
  const session = await lockSessionByDeviceCode(sql, body.deviceCode ?? body.device_code ?? '')
  if (!session) return refuse('invalid_grant')
  const never = finalRefusal(session)
  if (never) return refuse(never)
  if (session.status === 'requested') return refuse(await recordPoll(session, sql))
  const { ownerId, mode } = session
  const tenant = { ownerId, mode }
  switchTenant(tenant, clock.tenant(mode === 'test' ? await readClockOffset(sql, tenant) : 0))
  return issueKey(session, context)
}

type Fetching = Parameters<typeof issueDeviceToken>[1]

const writeKey = updateOf(deviceSessionsTable, ['status', 'keyId', 'endsAt', 'updatedAt'])

async function issueKey(session: DeviceSessionRow, context: Fetching) {
  const { em, sql, refuse } = context
  const scopes = await currentDeviceScopes(session, context)
  if (scopes.length === 0) return refuse('access_denied')
  const { id: sessionId, deviceName: name, toolWrites, boundTo } = session
  const personId = String(session.personId)
  const key = createDeviceKey({ name, scopes, toolWrites, boundTo, personId, sessionId }, context)
  await em.flush()
  deviceSessionMachine.move(session, 'active')
  const endsAt = key.endsAt ?? session.endsAt
  await writeKey(sql, session, [
    { id: sessionId, status: session.status, keyId: key.id, endsAt, updatedAt: clock.real() },
  ])
  return tokenResponse(sessionId, key)
}

/** Uses the service's member names, and also those of OAuth for clients of the standard. */
function tokenResponse(sessionId: string, key: IssuedApiKey) {
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
