import { area, onlyWith, reaction } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { GUESS_WINDOW_MS } from '../../kernel/database/wrong-guesses.ts'
import { keyEvents } from '../keys/index.ts'
import { sessionsApi } from './api.ts'
import { begin } from './begin.ts'
import { challenge, deny, lookup, verify } from './decide.ts'
import { deviceApi } from './device-api.ts'
import { expire, onKeyRevoked, onKeyRotated, revoke, visibleTo } from './end.ts'
import { metadataOf } from './metadata.ts'
import { sessionsPersonal } from './personal.ts'
import { sessionResponses } from './response.ts'
import { sessionEvents } from './schemas.ts'
import { DeviceSession, sessionMachine } from './session.ts'
import { token } from './token.ts'

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
