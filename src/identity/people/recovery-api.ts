import { z } from 'zod'
import { del, get, missing, post } from '../../kernel/contract/operation.ts'
import { freeText, ProcessStatusRecord } from '../../values/schemas.ts'
import { PersonRecord, personEvents, personFails } from './schemas.ts'

const { person_not_found } = personFails
const recovery_not_found = missing('recovery')

const done = z.object({ done: z.boolean() })

const ends = {
  'person.recovery_stopped': personEvents['person.recovery_stopped'],
  'person.updated': personEvents['person.updated'],
}

/** The way back in for somebody without a passkey. */
export const recoveryApi = {
  recover: post('/people/{id}/recover', {
    summary: 'Start the recovery of a person who has no passkey any more',
    description:
      'For 24 hours nothing happens but that everybody of the account is told: by `person.recovery_started`, by push, and in `GET /people`. Any key or person of the account can stop it. After that `POST /people/{id}/link` gives the operator a link, for seven days. Make sure who is asking before you start it.',
    callers: ['dash'],
    returns: [201, PersonRecord],
    fails: {
      person_not_found,
      recovery_under_way: [400, 'A recovery of this person is under way already. See GET /people/{id}.'],
    },
    emits: { 'person.recovery_started': personEvents['person.recovery_started'] },
  }),
  stopRecovery: del('/people/{id}/recovery', {
    summary: 'Stop the recovery of a person',
    description:
      'Any key and any person of the account may, whatever the scopes or the role: whoever sees a recovery that nobody has asked for stops it. A link that the operator has made opens nothing any more.',
    callers: ['key'],
    returns: [200, PersonRecord],
    fails: {
      person_not_found,
      recovery_not_found: [404, 'No recovery of this person is under way.'],
    },
    emits: ends,
  }),
  /** The process of the recovery reads this whenever the recovery has changed. */
  recoveryStatus: get('/recoveries/{id}/status', {
    readsClock: true,
    summary: 'Get the status of a recovery’s process',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: { recovery_not_found },
  }),
  /** Changes nothing before its time, by the tenant's clock, and nothing when it is repeated. */
  advanceRecovery: post('/recoveries/{id}/advance', {
    summary: 'Make a recovery ready, or expire it',
    callers: [],
    returns: [200, done],
    fails: { recovery_not_found },
    emits: ends,
  }),
  /** By the signal of an operator. */
  cancelRecovery: post('/recoveries/{id}/cancel', {
    summary: 'Stop a recovery by its id',
    callers: [],
    body: z.strictObject({ comment: freeText.optional() }),
    returns: [200, done],
    fails: { recovery_not_found, recovery_ended: [400, 'The recovery has ended already.'] },
    emits: ends,
  }),
}
