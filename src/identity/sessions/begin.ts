import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashOf, newSecret } from '../../kernel/database/credential.ts'
import { clientOf } from '../../values/client-of.ts'
import { after, clock } from '../../values/clock.ts'
import { newUserCode } from '../../values/user-code.ts'
import { sessionEvent } from './api.ts'
import type { deviceApi } from './device-api.ts'
import {
  CODES_LAST_MS,
  DeviceSession,
  INTERVAL_S,
  KEPT_FOR_MS,
  MAX_WAITING,
  platform,
  userHashesOf,
} from './session.ts'

const WAITING = `
select count(*)::int as waiting from sessions
where owner_id = $1 and mode = $2 and client = $3 and status = 'requested' and ends_at > $4`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

async function waitingOf(client: string, now: Date, sql: Sql): Promise<number> {
  const values = [platform.ownerId, platform.mode, client, now]
  const [, [row]] = await Promise.all([
    sql(LOCK_CLIENT, [`devices from ${client}`]),
    sql<{ waiting: number } & Row>(WAITING, values),
  ])
  return row?.waiting ?? 0
}

const TAKEN = `
select 1 as taken from sessions where owner_id = $1 and mode = $2 and user_hash = any($3::text[]) and status = 'requested'`

/** Finds an unused code. With 25,600 million codes, a second attempt is hardly ever needed. */
async function freeUserCode(sql: Sql, ports: Pick<Ports, 'vault'>): Promise<{ code: string; hash: string }> {
  const code = newUserCode()
  const hashes = userHashesOf(code, ports)
  const taken = await sql(TAKEN, [platform.ownerId, platform.mode, hashes])
  return taken.length === 0 ? { code, hash: hashes[0] } : freeUserCode(sql, ports)
}

const isScope = (name: string): name is Scope => (scopes as readonly string[]).includes(name)

function scopesIn(text: string | undefined): Scope[] | null | 'scope_unknown' {
  const named = new Set(text?.split(' ').filter(Boolean))
  if (named.size === 0) return null
  return [...named].every(isScope) ? scopes.filter(scope => named.has(scope)) : 'scope_unknown'
}

export const begin: HandlerOf<typeof deviceApi.begin> = async ({ body }, context) => {
  const { records, sql, switchTenant, address, ports, emit, refuse } = context
  const asked = body.scopes ?? scopesIn(body.scope)
  if (asked === 'scope_unknown') return refuse('scope_unknown')
  const now = clock.real()
  const client = clientOf(address ?? '')
  switchTenant(platform, now)
  if ((await waitingOf(client, now, sql)) >= MAX_WAITING) return refuse('too_many_waiting')
  const deviceCode = newSecret('dvc_')
  const { code: userCode, hash: userHash } = await freeUserCode(sql, ports)
  const { deviceId, deviceName, clientType, toolWrites, publicKeyJwk } = body
  const endsAt = after(now, CODES_LAST_MS)
  const session = records.create(DeviceSession, {
    createdAt: now,
    hash: hashOf(deviceCode),
    userHash,
    deviceId,
    deviceName,
    clientType,
    toolWrites,
    scopes: asked && scopes.filter(scope => asked.includes(scope)),
    boundTo: publicKeyJwk?.thumbprint ?? null,
    address,
    client,
    endsAt,
    forgetAt: after(endsAt, KEPT_FOR_MS),
  })
  emit('session.requested', sessionEvent(session))
  return startResponse(deviceCode, userCode, ports.pageUrl('/device'))
}

/** Uses the service's member names, and also those of RFC 8628 for clients of the standard. */
function startResponse(deviceCode: string, userCode: string, verificationUri: string) {
  const verificationUriComplete = `${verificationUri}?${new URLSearchParams({ code: userCode })}`
  const expiresIn = CODES_LAST_MS / 1_000
  return {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete,
    interval: INTERVAL_S,
    expiresIn,
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: verificationUri,
    verification_uri_complete: verificationUriComplete,
    expires_in: expiresIn,
  }
}
