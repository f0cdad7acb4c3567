import type { FilterQuery } from '@mikro-orm/core'
import { type Actor, limitedToPerson } from '../../kernel/contract/actor.ts'
import { area, reaction, whenMemberPresent } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, DONE, type HandlerOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { allScopeNames } from '../../kernel/contract/scopes.ts'
import { ATTEMPT_WINDOW_MS } from '../../kernel/database/attempt-limit.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { requireFirst } from '../../values/collections.ts'
import { proofAlgorithms } from '../../values/proof-key.ts'
import { apiKeyEvents, findApiKey, revokeKeysMadeInSession, revokeKeysOfSession } from '../keys/index.ts'
import { deviceSessionEvent, deviceSessionEvents, deviceSessionsApi } from './api.ts'
import {
  approveDevice,
  beginDeviceAuthorization,
  createDeviceChallenge,
  denyDevice,
  issueDeviceToken,
  lookUpDevice,
} from './device.ts'
import { DEVICE_CODE_GRANT_TYPE, deviceAuthorizationApi } from './device-api.ts'
import { DeviceSession, deviceKind, deviceSessionMachine, deviceSessionResponses } from './session.ts'

/** A pairing is no session: only its key names it. */
const ofDevice = { kind: deviceKind.name }

function visibleTo({ actor }: { readonly actor: Actor }): FilterQuery<DeviceSession> {
  const personId = limitedToPerson(actor, 'console:write')
  return personId === null ? ofDevice : { ...ofDevice, personId }
}

const lockSession = (id: string, { em }: WriteContext): Promise<DeviceSession | null> =>
  em.findOne(DeviceSession, { ...ofDevice, id }, FOR_UPDATE)

const ended = {
  'session.revoked': deviceSessionEvents['session.revoked'],
  'key.revoked': apiKeyEvents['key.revoked'],
}

/**
 * Ends a session with all its keys. Keys are locked before sessions, as when a key is rotated. The device may
 * fetch its key until the session is locked, so keys are searched once more then.
 */
async function endSession(id: string, context: WriteContext<typeof ended>): Promise<DeviceSession | null> {
  await revokeKeysOfSession(id, context)
  const session = await lockSession(id, context)
  if (!session || !deviceKind.machine.move(session, 'revoked')) return null
  session.endedAt = clock.real()
  context.emit('session.revoked', deviceSessionEvent(session))
  await revokeKeysOfSession(id, context)
  return session
}

const revoke: HandlerOf<typeof deviceSessionsApi.revoke> = async ({ params }, context) => {
  const { em, actor, refuse } = context
  const visible = await em.findOne(DeviceSession, { $and: [{ id: params.id }, visibleTo(context)] })
  if (!visible) return refuse('session_not_found')
  if (actor.type === 'key' && visible.scopes?.some(scope => !actor.scopes.has(scope)))
    return refuse('scope_not_held')
  if (!deviceKind.machine.can(visible.status, 'revoked')) return refuse('session_not_open')
  const session = await endSession(visible.id, context)
  // It has ended meanwhile. A refusal would keep what was revoked, a problem undoes it.
  if (!session) throw new Problem('busy', undefined, { 'Retry-After': '1' })
  return requireFirst(await deviceSessionResponses([session], context))
}

interface EndedKey {
  readonly keyId: string
  readonly sessionId: string | null
}

/** The key is locked, so that its session cannot get another one. */
async function onKeyRevoked(
  { keyId, sessionId }: EndedKey,
  context: WriteContext<typeof ended>,
): Promise<void> {
  if (!sessionId) return
  const session = await context.em.findOne(DeviceSession, { ...ofDevice, id: sessionId })
  if (session?.keyId === keyId) await endSession(sessionId, context)
  else await revokeKeysMadeInSession({ keyId, sessionId }, context)
}

async function onKeyRotated(
  { keyId, sessionId, replacedById }: EndedKey & { readonly replacedById: string },
  context: WriteContext,
): Promise<void> {
  const session = sessionId && (await lockSession(sessionId, context))
  if (session && session.keyId === keyId) session.keyId = replacedById
}

/** Ends an expired session. If its key was used meanwhile, the session continues until that use expires. */
const expire: HandlerOf<typeof deviceSessionsApi.expire> = async ({ params }, context) => {
  const { emit, refuse } = context
  const session = await lockSession(params.id, context)
  if (!session) return refuse('session_not_found')
  const now = clock.real()
  const key = session.keyId ? await findApiKey(session.keyId, context) : null
  if (key?.endsAt && key.endsAt > now) session.endsAt = key.endsAt
  if (session.endsAt > now || !deviceKind.machine.move(session, 'expired')) return DONE
  session.endedAt = now
  emit('session.expired', deviceSessionEvent(session))
  return DONE
}

/** OAuth server metadata (RFC 8414). There is neither client registration nor a redirect. */
const metadataOf = (issuer: string) => ({
  issuer,
  device_authorization_endpoint: `${issuer}/sessions/device`,
  token_endpoint: `${issuer}/sessions/token`,
  token_endpoint_auth_methods_supported: ['none'],
  grant_types_supported: [DEVICE_CODE_GRANT_TYPE],
  response_types_supported: [],
  scopes_supported: [...allScopeNames],
  dpop_signing_alg_values_supported: [...proofAlgorithms],
  code_challenge_methods_supported: ['S256'],
  pairing_endpoint: `${issuer}/cli/auth/start`,
  pairing_token_endpoint: `${issuer}/cli/auth/token`,
  service_documentation: `${issuer}/docs`,
})

const sessions = bindHandlers(
  { ...deviceSessionsApi, ...deviceAuthorizationApi },
  {
    begin: beginDeviceAuthorization,
    token: issueDeviceToken,
    metadata: (_, { service }) => metadataOf(service.publicUrl()),
    lookup: lookUpDevice,
    challenge: createDeviceChallenge,
    verify: approveDevice,
    deny: denyDevice,
    revoke,
    expire,

    async list({ query: { status, personId, clientType } }, context) {
      const conditions = [definedOnly({ status, personId, clientType }), visibleTo(context)]
      const { data, ...rest } = await context.page(DeviceSession, { $and: conditions })
      return { ...rest, data: await deviceSessionResponses(data, context) }
    },

    async get({ params }, context) {
      const condition = { $and: [{ id: params.id }, visibleTo(context)] }
      const session = await context.em.findOne(DeviceSession, condition)
      const [response] = session ? await deviceSessionResponses([session], context) : []
      return response ?? context.refuse('session_not_found')
    },
  },
)

/** Uses only real time, as keys expire in real time, so a test clock ends no session. Sessions have no run. */
const sessionsDue: Deadline = {
  process: { name: 'session' },
  table: 'sessions',
  due: 'ends_at',
  open: `kind = 'device' and status in ('requested', 'approved', 'active') and ends_at <= now()`,
  operations: ['sessions.expire'],
}

export const sessionsArea = area(
  'Sessions',
  'How a device gets its own key: a person types its code and approves with a passkey.',
  sessions,
  {
    entities: [DeviceSession],
    machines: [deviceSessionMachine],
    deadlines: [sessionsDue],
    expiring: [
      { table: 'sessions', column: 'forget_at', keptMs: 0 },
      { table: 'wrong_guesses', column: 'last_at', keptMs: ATTEMPT_WINDOW_MS },
    ],
    reactions: {
      'key.revoked': whenMemberPresent(
        'sessionId',
        reaction(apiKeyEvents['key.revoked'], ended, onKeyRevoked),
      ),
      'key.rotated': whenMemberPresent('sessionId', reaction(apiKeyEvents['key.rotated'], {}, onKeyRotated)),
    },
  },
)
