import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { oauthErrors } from '../../kernel/contract/oauth-errors.ts'
import { doneSchema, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { allScopeNames, scopeSchema } from '../../kernel/contract/scopes.ts'
import { tooManyAttemptsRefusal } from '../../kernel/database/attempt-limit.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { apiKeyEvents } from '../keys/index.ts'
import { type DeviceSession, deviceClientTypes, deviceSessionMachine } from './session.ts'

export const deviceIdSchema = patternTextSchema(
  /^[\x21-\x7e]{8,128}$/,
  128,
  'must have 8 to 128 visible ASCII characters, and no spaces',
).meta({ description: 'The device’s own ID.', examples: ['laptop-7f3a9c'] })

/** Control characters, and marks that change the text direction. */
const INVISIBLE = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u

export const deviceNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(name => !INVISIBLE.test(name), 'must not contain invisible characters, such as direction marks')
  .meta({
    description: 'Name by which the person recognizes the device, and later the key.',
    examples: ['Ada’s laptop'],
  })

export const clientTypeSchema = z.enum(deviceClientTypes)
export const scopeListSchema = z.array(scopeSchema).min(1).max(allScopeNames.length)

export const userCodeSchema = z
  .string()
  .max(100)
  .meta({
    description: 'Code that the device shows. Case, hyphens and spaces do not matter.',
    examples: ['WDJB-MJHT'],
  })

const address = z
  .string()
  .nullable()
  .meta({ description: 'The address of the device.', examples: ['203.0.113.7'] })

export const DeviceSessionRecord = z
  .object({
    ...recordHead('session'),
    status: z.enum(deviceSessionMachine.states).meta({
      description:
        '`approved` until the device has fetched its key, then `active`; at the end `denied`, `revoked` or `expired`.',
    }),
    deviceId: z.string(),
    deviceName: z.string(),
    clientType: clientTypeSchema,
    scopes: z
      .array(scopeSchema)
      .nullable()
      .meta({ description: 'The scopes of the key. Null until approved.' }),
    toolWrites: z
      .boolean()
      .meta({ description: 'Whether the key can make changes with an assistant’s tools.' }),
    boundTo: z
      .string()
      .nullable()
      .meta({ description: 'RFC 7638 thumbprint of the key that signs the proof of each request.' }),
    address,
    personId: id('person').nullable().meta({ description: 'The person who decided.' }),
    keyId: id('key').nullable().meta({ description: 'The device’s current or former key.' }),
    lastUsedAt: instant.nullable().meta({ description: 'Time of the key’s last use, to the minute.' }),
    decidedAt: instant.nullable(),
    endsAt: instant.meta({
      description:
        'The time at which the session ended, or will end: after 90 days, or after 30 without use.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'DeviceSession' })

export const WaitingDeviceRecord = z
  .object({
    sessionId: id('session'),
    userCode: userCodeSchema,
    deviceId: z.string(),
    deviceName: z.string(),
    clientType: clientTypeSchema,
    scopes: z.array(scopeSchema).meta({
      description: 'The scopes that the person can grant: the requested ones that the role has.',
    }),
    withheld: z.array(scopeSchema).meta({ description: 'Requested scopes that the person cannot grant.' }),
    toolWrites: z
      .boolean()
      .meta({ description: 'Whether the key will be able to make changes with an assistant’s tools.' }),
    isBound: z.boolean().meta({ description: 'Whether only this device can use its key.' }),
    address,
    createdAt: instant,
    expiresAt: instant,
  })
  .meta({ id: 'WaitingDevice' })

const SessionEvent = z.object({
  sessionId: id('session'),
  deviceName: z.string().max(100),
  clientType: clientTypeSchema,
  personId: id('person').nullable(),
  keyId: id('key').nullable(),
})

export const deviceSessionEvents = {
  'session.requested': declareEvent(
    'A device requests a key. The account is notified once one of its people has typed the code.',
    SessionEvent,
  ),
  'session.approved': declareEvent('A person has approved a device with a passkey.', SessionEvent),
  'session.denied': declareEvent('A person has denied a device.', SessionEvent),
  'session.revoked': declareEvent(
    'The session of a device has been ended, and its key with it.',
    SessionEvent,
  ),
  'session.expired': declareEvent(
    'The session of a device has expired: without a decision, without its key being fetched, or with its key.',
    SessionEvent,
  ),
}

export const deviceSessionEvent = ({
  id: sessionId,
  deviceName,
  clientType,
  personId,
  keyId,
}: Pick<DeviceSession, 'id' | 'deviceName' | 'clientType' | 'personId' | 'keyId'>) => ({
  sessionId,
  deviceName,
  clientType,
  personId,
  keyId,
})

export const userCodeRefusals = {
  user_code_unknown: [
    404,
    'userCode: no device is waiting with this code. Compare it with the device’s; decided and expired codes no longer work.',
  ],
  user_code_expired: [400, 'userCode: the code expired after ten minutes. Start again on the device.'],
  too_many_guesses: tooManyAttemptsRefusal,
} as const satisfies Record<string, RefusalSpec>

export const scopeGrantRefusals = {
  scope_not_held: [403, 'scopes: the device did not request it, or your role does not have it.'],
} as const satisfies Record<string, RefusalSpec>

const sessionFails = {
  session_not_found: notFound('session'),
  session_not_open: [400, 'The session has already ended, or was never approved.'],
  scope_not_held: [
    403,
    'The session has scopes that the calling key lacks. End it with a key that has them.',
  ],
} as const satisfies Record<string, RefusalSpec>

const { invalid_target: _target, invalid_redirect_uri: _address, ...ofDevices } = oauthErrors

export const deviceTokenRefusals = ofDevices

const readers = operationsFor({ callers: ['key'], scope: 'sessions:read' })

const writers = operationsFor({ callers: ['key'], scope: 'sessions:write' })

export const deviceSessionsApi = {
  list: readers.list('/sessions', {
    summary: 'List the sessions of devices',
    description:
      'Newest first, including ended ones. People who are not owners see only those that they decided.',
    filters: {
      status: z.enum(deviceSessionMachine.states).optional(),
      personId: id('person').optional(),
      clientType: clientTypeSchema.optional(),
    },
    item: DeviceSessionRecord,
  }),
  get: readers.getOne('/sessions/{id}', 'the session of a device', DeviceSessionRecord, {
    session_not_found: sessionFails.session_not_found,
  }),
  revoke: writers.del('/sessions/{id}', {
    summary: 'End the session of a device',
    description:
      'The device’s key stops working at once. People who are not owners can end sessions that they approved; a key can end sessions whose scopes it has.',
    returns: [200, DeviceSessionRecord],
    fails: sessionFails,
    emits: {
      'session.revoked': deviceSessionEvents['session.revoked'],
      'key.revoked': apiKeyEvents['key.revoked'],
    },
  }),
  expire: internal.post('/sessions/{id}/expire', {
    summary: 'Expire the session of a device',
    returns: [200, doneSchema],
    fails: { session_not_found: sessionFails.session_not_found },
    emits: { 'session.expired': deviceSessionEvents['session.expired'] },
  }),
}
