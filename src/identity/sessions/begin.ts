import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { allScopeNames, type Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { clientAddressKey } from '../../values/client-of.ts'
import { addMs, clock } from '../../values/clock.ts'
import { newUserCode } from '../../values/user-code.ts'
import { deviceSessionEvent } from './api.ts'
import type { deviceAuthorizationApi } from './device-api.ts'
import {
  DEVICE_CODE_TTL_MS,
  DEVICE_POLL_INTERVAL_S,
  DeviceSession,
  ENDED_REQUEST_RETENTION_MS,
  livePlatformTenant,
  MAX_WAITING_DEVICES,
  userCodeHashes,
} from './session.ts'

const WAITING = `
select count(*)::int as waiting from sessions
where owner_id = $1 and mode = $2 and client = $3 and status = 'requested' and ends_at > $4`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

async function waitingOf(client: string, now: Date, sql: Sql): Promise<number> {
  const values = [livePlatformTenant.ownerId, livePlatformTenant.mode, client, now]
  const [, [row]] = await Promise.all([
    sql(LOCK_CLIENT, [`devices from ${client}`]),
    sql<{ waiting: number } & Row>(WAITING, values),
  ])
  return row?.waiting ?? 0
}

const TAKEN = `
select 1 as taken from sessions where owner_id = $1 and mode = $2 and user_hash = any($3::text[]) and status = 'requested'`

/** Finds an unused code. With 25,600 million codes, a second attempt is hardly ever needed. */
async function freeUserCode(
  sql: Sql,
  systems: Pick<Systems, 'vault'>,
): Promise<{ code: string; hash: string }> {
  const code = newUserCode()
  const hashes = userCodeHashes(code, systems)
  const taken = await sql(TAKEN, [livePlatformTenant.ownerId, livePlatformTenant.mode, hashes])
  return taken.length === 0 ? { code, hash: hashes[0] } : freeUserCode(sql, systems)
}

const isScope = (name: string): name is Scope => (allScopeNames as readonly string[]).includes(name)

function scopesIn(text: string | undefined): Scope[] | null | 'scope_unknown' {
  const named = new Set(text?.split(' ').filter(Boolean))
  if (named.size === 0) return null
  return [...named].every(isScope) ? allScopeNames.filter(scope => named.has(scope)) : 'scope_unknown'
}

export const beginDeviceAuthorization: HandlerOf<typeof deviceAuthorizationApi.begin> = async (
  { body },
  context,
) => {
  const { em, sql, switchTenant, address, systems, service, emit, refuse } = context
  const asked = body.scopes ?? scopesIn(body.scope)
  if (asked === 'scope_unknown') return refuse('scope_unknown')
  const now = clock.real()
  const client = clientAddressKey(address ?? '')
  switchTenant(livePlatformTenant, now)
  if ((await waitingOf(client, now, sql)) >= MAX_WAITING_DEVICES) return refuse('too_many_waiting')
  const deviceCode = newSecret('dvc_')
  const { code: userCode, hash: userHash } = await freeUserCode(sql, systems)
  const { deviceId, deviceName, clientType, toolWrites, publicKeyJwk } = body
  const endsAt = addMs(now, DEVICE_CODE_TTL_MS)
  const session = em.create(DeviceSession, {
    createdAt: now,
    hash: hashSecret(deviceCode),
    userHash,
    deviceId,
    deviceName,
    clientType,
    toolWrites,
    scopes: asked && allScopeNames.filter(scope => asked.includes(scope)),
    boundTo: publicKeyJwk?.thumbprint ?? null,
    address,
    client,
    endsAt,
    forgetAt: addMs(endsAt, ENDED_REQUEST_RETENTION_MS),
  })
  emit('session.requested', deviceSessionEvent(session))
  return startResponse(deviceCode, userCode, service.pageUrl('/device'))
}

/** Uses the service's member names, and also those of RFC 8628 for clients of the standard. */
function startResponse(deviceCode: string, userCode: string, verificationUri: string) {
  const verificationUriComplete = `${verificationUri}?${new URLSearchParams({ code: userCode })}`
  const expiresIn = DEVICE_CODE_TTL_MS / 1_000
  return {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete,
    interval: DEVICE_POLL_INTERVAL_S,
    expiresIn,
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: verificationUri,
    verification_uri_complete: verificationUriComplete,
    expires_in: expiresIn,
  }
}
