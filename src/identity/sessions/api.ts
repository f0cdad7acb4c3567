import { z } from 'zod'
import { del, get, list, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { keyEvents } from '../keys/index.ts'
import { clientType, SessionRecord, sessionEvents, sessionFails } from './schemas.ts'
import { sessionMachine } from './session.ts'

const readers = { callers: ['key'], scope: 'sessions:read' } as const

export const sessionsApi = {
  list: list('/sessions', {
    ...readers,
    summary: 'List the sessions of devices',
    description:
      'Newest first, ended ones too. People who are no owners see those that they have decided about.',
    filters: {
      status: z.enum(sessionMachine.states).optional(),
      personId: id('person').optional(),
      clientType: clientType.optional(),
    },
    item: SessionRecord,
  }),
  get: get('/sessions/{id}', {
    ...readers,
    summary: 'Get the session of a device',
    returns: [200, SessionRecord],
    fails: { session_not_found: sessionFails.session_not_found },
  }),
  revoke: del('/sessions/{id}', {
    summary: 'End the session of a device',
    description:
      'Its key opens nothing any more, at once. People who are no owners end those that they have approved; a key ends those that have no scope which it lacks.',
    callers: ['key'],
    scope: 'sessions:write',
    returns: [200, SessionRecord],
    fails: sessionFails,
    emits: {
      'session.revoked': sessionEvents['session.revoked'],
      'key.revoked': keyEvents['key.revoked'],
    },
  }),
  /** Of a session that is due: it goes on where its key was used meanwhile. */
  expire: post('/sessions/{id}/expire', {
    summary: 'End the session of a device whose time is over',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: { session_not_found: sessionFails.session_not_found },
    emits: { 'session.expired': sessionEvents['session.expired'] },
  }),
}
