import type { CallerContext, Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { allScopeNames, type Scope } from '../../kernel/contract/scopes.ts'
import { updateOf } from '../../record-store/index.ts'
import { addMs, clock } from '../../values/clock.ts'
import { consumeAssertion, openPasskeyChallenge, verifyAssertion } from '../passkeys/index.ts'
import { deviceSessionEvent, type userCodeRefusals } from './api.ts'
import type { deviceAuthorizationApi } from './device-api.ts'
import {
  DEVICE_KEY_FETCH_TTL_MS,
  type DeviceSessionRow,
  deviceSessionMachine,
  deviceSessionResponse,
  deviceSessionsTable,
  findWaitingDevice,
  livePlatformTenant,
  lockWaitingDevice,
  type NotWaitingReason,
  type WaitingDeviceRequest,
} from './session.ts'

type Deciding = Context<keyof typeof userCodeRefusals>

function refusalOf(found: NotWaitingReason, { refuse }: Deciding) {
  const refusal = refuse(found.refused)
  return found.refused === 'too_many_guesses'
    ? withHeaders(refusal, { 'Retry-After': String(found.waitSeconds) })
    : refusal
}

export function grantableScopes(
  { scopes: asked }: Pick<DeviceSessionRow, 'scopes'>,
  { actor }: CallerContext,
) {
  const wanted = asked ?? allScopeNames.filter(scope => actor.scopes.has(scope))
  return {
    allowed: wanted.filter(scope => actor.scopes.has(scope)),
    withheld: wanted.filter(scope => !actor.scopes.has(scope)),
  }
}

function grantedScopes(
  request: DeviceSessionRow,
  wanted: readonly Scope[] | undefined,
  context: CallerContext,
): Scope[] | undefined {
  const { allowed } = grantableScopes(request, context)
  const given = wanted ? allScopeNames.filter(scope => wanted.includes(scope)) : allowed
  return given.length > 0 && given.every(scope => allowed.includes(scope)) ? given : undefined
}

const statementOf = ({ request, userCode }: WaitingDeviceRequest, given: readonly Scope[]) => ({
  deviceId: request.deviceId,
  deviceName: request.deviceName,
  clientType: request.clientType,
  scopes: given,
  userCode,
  ...(request.toolWrites ? { toolWrites: true as const } : {}),
})

const writeShown = updateOf(deviceSessionsTable, ['shownTo'])

export const lookUpDevice: HandlerOf<typeof deviceAuthorizationApi.lookup> = async ({ body }, context) => {
  const { sql, tenant, queueStatement, emit } = context
  const found = await findWaitingDevice(body.userCode, context)
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
  const found = await findWaitingDevice(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const given = grantedScopes(found.request, body.scopes, context)
  if (!given) return context.refuse('scope_not_held')
  const about = { kind: 'device', subjectId: found.request.id, members: statementOf(found, given) } as const
  return openPasskeyChallenge(about, context)
}

/** Moves the row from the platform to the deciding tenant, which then owns it for good. */
const writeDecision = updateOf(deviceSessionsTable, [
  'ownerId',
  'mode',
  'status',
  'personId',
  'scopes',
  'decidedAt',
  'endedAt',
  'endsAt',
  'forgetAt',
  'updatedAt',
])

async function decide(
  request: DeviceSessionRow,
  to: 'approved' | 'denied',
  given: readonly Scope[] | null,
  { sql, tenant, actor }: Deciding,
): Promise<DeviceSessionRow> {
  const now = clock.real()
  const least = addMs(now, DEVICE_KEY_FETCH_TTL_MS)
  const isOver = to === 'denied'
  deviceSessionMachine.move(request, to)
  Object.assign(request, {
    ...tenant,
    personId: actor.id,
    scopes: given,
    decidedAt: now,
    endedAt: isOver ? now : null,
    endsAt: isOver ? now : request.endsAt > least ? request.endsAt : least,
    forgetAt: null,
    updatedAt: now,
  })
  await writeDecision(sql, livePlatformTenant, [request])
  return request
}

export const approveDevice: HandlerOf<typeof deviceAuthorizationApi.verify> = async ({ body }, context) => {
  const { emit, refuse } = context
  const consent = await verifyAssertion(body.webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  const found = await lockWaitingDevice(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const given = grantedScopes(found.request, body.scopes, context)
  if (!given) return refuse('scope_not_held')
  const expected = { kind: 'device', members: statementOf(found, given) } as const
  const code = await consumeAssertion(consent, expected, context)
  if (code) return refuse(code)
  const approved = await decide(found.request, 'approved', given, context)
  emit('session.approved', deviceSessionEvent(approved))
  return deviceSessionResponse(approved, null)
}

export const denyDevice: HandlerOf<typeof deviceAuthorizationApi.deny> = async ({ body }, context) => {
  const found = await lockWaitingDevice(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const denied = await decide(found.request, 'denied', null, context)
  context.emit('session.denied', deviceSessionEvent(denied))
  return deviceSessionResponse(denied, null)
}
