import { area, onlyWith, reaction } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { scopes } from '../../kernel/contract/scopes.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { GUESS_WINDOW_MS } from '../../kernel/database/wrong-guesses.ts'
import { proofAlgorithms } from '../../values/proof-key.ts'
import { keyEvents } from '../keys/index.ts'
import { sessionEvents, sessionsApi } from './api.ts'
import { begin } from './begin.ts'
import { challenge, deny, lookup, verify } from './decide.ts'
import { DEVICE_GRANT, deviceApi } from './device-api.ts'
import { expire, onKeyRevoked, onKeyRotated, revoke, visibleTo } from './end.ts'
import { DeviceSession, sessionMachine, sessionResponses, sessionsPersonal } from './session.ts'
import { token } from './token.ts'

/** What programs that know OAuth want to be told (RFC 8414). Clients are not registered, and nobody is redirected. */
const metadataOf = (issuer: string) => ({
  issuer,
  device_authorization_endpoint: `${issuer}/sessions/device`,
  token_endpoint: `${issuer}/sessions/token`,
  token_endpoint_auth_methods_supported: ['none'],
  grant_types_supported: [DEVICE_GRANT],
  response_types_supported: [],
  scopes_supported: [...scopes],
  dpop_signing_alg_values_supported: [...proofAlgorithms],
  code_challenge_methods_supported: ['S256'],
  pairing_endpoint: `${issuer}/cli/auth/start`,
  pairing_token_endpoint: `${issuer}/cli/auth/token`,
  service_documentation: `${issuer}/docs`,
})

const sessions = implement(
  { ...sessionsApi, ...deviceApi },
  {
    begin,
    token,
    metadata: (_, { ports }) => metadataOf(ports.publicUrl()),
    lookup,
    challenge,
    verify,
    deny,
    revoke,
    expire,

    async list({ query: { status, personId, clientType } }, context) {
      const conditions = [definedOnly({ status, personId, clientType }), visibleTo(context)]
      const { data, ...rest } = await context.page(DeviceSession, { $and: conditions })
      return { ...rest, data: await sessionResponses(data, context) }
    },

    async get({ params }, context) {
      const condition = { $and: [{ id: params.id }, visibleTo(context)] }
      const session = await context.records.findOne(DeviceSession, condition)
      const [response] = session ? await sessionResponses([session], context) : []
      return response ?? context.refuse('session_not_found')
    },
  },
)

/** By real time alone, as keys end: a test clock that was moved ends none. No process waits for it. */
const sessionsDue: Deadline = {
  process: { name: 'session' },
  table: 'sessions',
  record: 'id',
  agent: 'null::text',
  due: 'ends_at',
  open: `status in ('requested', 'approved', 'active') and ends_at <= now()`,
  waits: 'false',
  operations: ['sessions.expire'],
}

export const sessionsArea = area(
  'Sessions',
  'How a device gets a key of its own: a person types its code, and lets it in with a passkey.',
  sessions,
  {
    personal: sessionsPersonal,
    entities: [DeviceSession],
    machines: [sessionMachine],
    deadlines: [sessionsDue],
    expiring: [
      { table: 'sessions', column: 'forget_at', keptMs: 0 },
      { table: 'wrong_guesses', column: 'last_at', keptMs: GUESS_WINDOW_MS },
    ],
    reactions: {
      'key.revoked': onlyWith(
        'sessionId',
        reaction(
          keyEvents['key.revoked'],
          { 'session.revoked': sessionEvents['session.revoked'] },
          onKeyRevoked,
        ),
      ),
      'key.rotated': onlyWith('sessionId', reaction(keyEvents['key.rotated'], {}, onKeyRotated)),
    },
  },
)
