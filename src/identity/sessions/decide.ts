import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import { updateOf } from '../../record-store/index.ts'
import { after, clock } from '../../values/clock.ts'
import { burnAssertion, openChallenge, verifyAssertion } from '../passkeys/index.ts'
import { type codeFails, sessionEvent } from './api.ts'
import type { deviceApi } from './device-api.ts'
import {
  FETCH_LASTS_MS,
  findWaiting,
  lockWaiting,
  type NotWaiting,
  platform,
  type SessionRow,
  sessionMachine,
  sessionResponse,
  sessionsTable,
  type Waiting,
} from './session.ts'

type Deciding = Pick<Context<keyof typeof codeFails>, 'sql' | 'tenant' | 'actor' | 'refuse'>

function refusalOf(found: NotWaiting, { refuse }: Pick<Deciding, 'refuse'>) {
  const refusal = refuse(found.refused)
  return found.refused === 'too_many_guesses'
    ? withHeaders(refusal, { 'Retry-After': String(found.waitSeconds) })
    : refusal
}

export function grantableScopes(
  { scopes: asked }: Pick<SessionRow, 'scopes'>,
  { actor }: Pick<Deciding, 'actor'>,
) {
  const wanted = asked ?? scopes.filter(scope => actor.scopes.has(scope))
  return {
    allowed: wanted.filter(scope => actor.scopes.has(scope)),
    withheld: wanted.filter(scope => !actor.scopes.has(scope)),
  }
}

function grantedScopes(
  request: SessionRow,
  wanted: readonly Scope[] | undefined,
  context: Pick<Deciding, 'actor'>,
): Scope[] | undefined {
  const { allowed } = grantableScopes(request, context)
  const given = wanted ? scopes.filter(scope => wanted.includes(scope)) : allowed
  return given.length > 0 && given.every(scope => allowed.includes(scope)) ? given : undefined
}

const statementOf = ({ request, userCode }: Waiting, given: readonly Scope[]) => ({
  deviceId: request.deviceId,
  deviceName: request.deviceName,
  clientType: request.clientType,
  scopes: given,
  userCode,
  ...(request.toolWrites ? { toolWrites: true as const } : {}),
})

const writeShown = updateOf(sessionsTable, ['shownTo'])

export const lookup: HandlerOf<typeof deviceApi.lookup> = async ({ body }, context) => {
  const { sql, tenant, queueStatement, emit } = context
  const found = await findWaiting(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const { request, userCode } = found
  const account = `${tenant.ownerId} ${tenant.mode}`
  if (request.shownTo !== account) {
    queueStatement(writeShown(sql, platform, [{ id: request.id, shownTo: account }]))
    emit('session.requested', sessionEvent(request))
  }
  const { allowed, withheld } = grantableScopes(request, context)
  const { id: sessionId, boundTo, endsAt: expiresAt } = request
  return { ...request, sessionId, userCode, scopes: allowed, withheld, isBound: boundTo !== null, expiresAt }
}

export const challenge: HandlerOf<typeof deviceApi.challenge> = async ({ body }, context) => {
  const found = await findWaiting(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const given = grantedScopes(found.request, body.scopes, context)
  if (!given) return context.refuse('scope_not_held')
  const about = { kind: 'device', subjectId: found.request.id, members: statementOf(found, given) } as const
  return openChallenge(about, context)
}

/** Moves the row from the platform to the deciding tenant, which then owns it for good. */
const writeDecision = updateOf(sessionsTable, [
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
  request: SessionRow,
  to: 'approved' | 'denied',
  given: readonly Scope[] | null,
  { sql, tenant, actor }: Deciding,
): Promise<SessionRow> {
  const now = clock.real()
  const least = after(now, FETCH_LASTS_MS)
  const isOver = to === 'denied'
  sessionMachine.move(request, to)
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
  await writeDecision(sql, platform, [request])
  return request
}

export const verify: HandlerOf<typeof deviceApi.verify> = async ({ body }, context) => {
  const { emit, refuse } = context
  const consent = await verifyAssertion(body.webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  const found = await lockWaiting(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const given = grantedScopes(found.request, body.scopes, context)
  if (!given) return refuse('scope_not_held')
  const expected = { kind: 'device', members: statementOf(found, given) } as const
  const code = await burnAssertion(consent, expected, context)
  if (code) return refuse(code)
  const approved = await decide(found.request, 'approved', given, context)
  emit('session.approved', sessionEvent(approved))
  return sessionResponse(approved, null)
}

export const deny: HandlerOf<typeof deviceApi.deny> = async ({ body }, context) => {
  const found = await lockWaiting(body.userCode, context)
  if ('refused' in found) return refusalOf(found, context)
  const denied = await decide(found.request, 'denied', null, context)
  context.emit('session.denied', sessionEvent(denied))
  return sessionResponse(denied, null)
}
