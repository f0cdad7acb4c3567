import type { CallerContext, Context, WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { allScopeNames, type Scope } from '../../kernel/contract/scopes.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { addMs, clock } from '../../values/clock.ts'
import type { IssuedApiKey } from '../keys/index.ts'
import { openPasskeyChallenge } from '../passkeys/index.ts'
import { deviceSessionEvent } from './api.ts'
import { beginRequest } from './begin.ts'
import { approve, decide, type Grant } from './decide.ts'
import { DEVICE_CODE_GRANT_TYPE, type deviceAuthorizationApi } from './device-api.ts'
import { fetchKey } from './fetch-key.ts'
import {
  type DeviceRow,
  deviceKind,
  deviceSessionResponse,
  livePlatformTenant,
  lockByCode,
  type SessionRow,
  sessionsTable,
} from './session.ts'
import { freeUserCode, lockWaitingDevice, type NotWaiting } from './user-code.ts'

const isScope = (name: string): name is Scope => (allScopeNames as readonly string[]).includes(name)

const inOrder = (scopes: readonly Scope[]): Scope[] => allScopeNames.filter(scope => scopes.includes(scope))

function scopesIn(text: string | undefined): Scope[] | null | 'scope_unknown' {
  const named = text?.split(' ').filter(Boolean) ?? []
  if (named.length === 0) return null
  return named.every(isScope) ? named : 'scope_unknown'
}

export const beginDeviceAuthorization: HandlerOf<typeof deviceAuthorizationApi.begin> = async (
  { body },
  context,
) => {
  const { sql, systems, service, emit, refuse } = context
  const scopes = body.scopes ?? scopesIn(body.scope)
  if (scopes === 'scope_unknown') return refuse('scope_unknown')
  const { deviceId, deviceName, clientType, toolWrites, publicKeyJwk } = body
  const boundTo = publicKeyJwk?.thumbprint ?? null
  const { userCode, userHash } = await freeUserCode(sql, systems)
  const asked = { deviceId, deviceName, clientType, toolWrites, boundTo, userHash }
  const begun = await beginRequest(deviceKind, { ...asked, scopes: scopes && inOrder(scopes) }, context)
  if (!begun) return refuse('too_many_waiting')
  emit('session.requested', deviceSessionEvent(begun.request))
  return startResponse(begun.code, userCode, service.pageUrl('/device'))
}

/** Uses the service's member names, and also those of RFC 8628 for clients of the standard. */
function startResponse(deviceCode: string, userCode: string, verificationUri: string) {
  const verificationUriComplete = `${verificationUri}?${new URLSearchParams({ code: userCode })}`
  const expiresIn = deviceKind.codeTtlMs / 1_000
  return {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete,
    interval: deviceKind.pollIntervalS,
    expiresIn,
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: verificationUri,
    verification_uri_complete: verificationUriComplete,
    expires_in: expiresIn,
  }
}

function refusalOf<F extends string>(
  { refused, waitSeconds }: { readonly refused: F; readonly waitSeconds?: number },
  { refuse }: Context<F>,
) {
  const refusal = refuse(refused)
  return waitSeconds === undefined ? refusal : withHeaders(refusal, { 'Retry-After': String(waitSeconds) })
}

function grantableScopes({ scopes: asked }: SessionRow, { actor }: CallerContext) {
  const wanted = asked ?? allScopeNames.filter(scope => actor.scopes.has(scope))
  return {
    allowed: wanted.filter(scope => actor.scopes.has(scope)),
    withheld: wanted.filter(scope => !actor.scopes.has(scope)),
  }
}

/** What the person grants to the device that shows the code: the wanted scopes, by default all that are allowed. */
async function grantTo(
  body: { readonly userCode: string; readonly scopes?: readonly Scope[] | undefined },
  context: WriteContext,
): Promise<Grant<DeviceRow> | NotWaiting | { readonly refused: 'scope_not_held' }> {
  const found = await lockWaitingDevice(body.userCode, context)
  if ('refused' in found) return found
  const { request, userCode } = found
  const { allowed } = grantableScopes(request, context)
  const scopes = body.scopes ? inOrder(body.scopes) : allowed
  if (scopes.length === 0 || !scopes.every(scope => allowed.includes(scope)))
    return { refused: 'scope_not_held' }
  const { deviceId, deviceName, clientType, toolWrites } = request
  const extra = toolWrites ? { toolWrites } : {}
  const members = { deviceId, deviceName, clientType, scopes, userCode, ...extra }
  return { request, scopes, statement: { kind: 'device', members } }
}

const writeShown = updateOf(sessionsTable, ['shownTo'])

export const lookUpDevice: HandlerOf<typeof deviceAuthorizationApi.lookup> = async ({ body }, context) => {
  const { sql, tenant, queueStatement, emit } = context
  const found = await lockWaitingDevice(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const { request, userCode } = found
  const account = `${tenant.ownerId} ${tenant.mode}`
  if (request.shownTo !== account) {
    queueStatement(writeShown(sql, livePlatformTenant, [{ id: request.id, shownTo: account }]))
    emit('session.requested', deviceSessionEvent(request))
  }
  const { allowed, withheld } = grantableScopes(request, context)
  const { id: sessionId, boundTo, endsAt: expiresAt } = request
  return { ...request, sessionId, userCode, scopes: allowed, withheld, isBound: boundTo !== null, expiresAt }
}

export const createDeviceChallenge: HandlerOf<typeof deviceAuthorizationApi.challenge> = async (
  { body },
  context,
) => {
  const grant = await grantTo(body, context)
  if ('refused' in grant) return refusalOf(grant, context)
  return openPasskeyChallenge({ ...grant.statement, subjectId: grant.request.id }, context)
}

export const approveDevice: HandlerOf<typeof deviceAuthorizationApi.verify> = async ({ body }, context) => {
  const lockGrant = () => grantTo(body, context)
  const approved = await approve(deviceKind, body.webauthnAssertion, lockGrant, context)
  if ('refused' in approved) return refusalOf(approved, context)
  context.emit('session.approved', deviceSessionEvent(approved))
  return deviceSessionResponse(approved, null)
}

export const denyDevice: HandlerOf<typeof deviceAuthorizationApi.deny> = async ({ body }, context) => {
  const found = await lockWaitingDevice(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const denied = await decide(deviceKind, found.request, 'denied', null, context)
  context.emit('session.denied', deviceSessionEvent(denied))
  return deviceSessionResponse(denied, null)
}

const MAX_POLL_INTERVAL_S = 600

const writePoll = updateOf(sessionsTable, ['polledAt', 'intervalSeconds', 'updatedAt'])

/** The interval grows after each early poll. */
async function recordPoll(session: SessionRow, sql: Sql): Promise<'authorization_pending' | 'slow_down'> {
  const now = clock.real()
  const { id, polledAt, intervalSeconds } = session
  const isEarly = polledAt !== null && now < addMs(polledAt, intervalSeconds * 1_000)
  const next = isEarly
    ? Math.min(intervalSeconds + deviceKind.pollIntervalS, MAX_POLL_INTERVAL_S)
    : intervalSeconds
  await writePoll(sql, session, [{ id, polledAt: now, intervalSeconds: next, updatedAt: now }])
  return isEarly ? 'slow_down' : 'authorization_pending'
}

export const issueDeviceToken: HandlerOf<typeof deviceAuthorizationApi.token> = async ({ body }, context) => {
  const { sql, refuse } = context
  if (body.grant_type !== undefined && body.grant_type !== DEVICE_CODE_GRANT_TYPE)
    return refuse('unsupported_grant_type')
  const session = await lockByCode(deviceKind, body.deviceCode ?? body.device_code ?? '', sql)
  if (!session) return refuse('invalid_grant')
  const key = await fetchKey(deviceKind, session, context)
  if (key === 'authorization_pending') return refuse(await recordPoll(session, sql))
  return typeof key === 'string' ? refuse(key) : tokenResponse(session.id, key)
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
