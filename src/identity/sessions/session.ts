import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { machine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { nullable, realTimestamps, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days, minutes } from '../../values/clock.ts'
import { PLATFORM_OWNER } from '../customers/index.ts'

export const sessionMachine = machine('session', {
  requested: ['approved', 'denied', 'expired'],
  approved: ['active', 'revoked', 'expired'],
  active: ['revoked', 'expired'],
  denied: [],
  revoked: [],
  expired: [],
})

/** A device does not say for which account it asks: until somebody decides, the row is the platform's. */
export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

/** How long a device's codes live, in real time. */
export const CODES_LAST_MS = minutes(10)
/** The time that a device has at least to fetch its key, once somebody has approved. */
export const FETCH_LASTS_MS = minutes(1)
/** For a day, a device that comes too late is told so. */
export const KEPT_FOR_MS = days(1)
/** How many seconds a device waits between two questions, and how many more each time that it did not. */
export const INTERVAL_S = 5
export const MOST_INTERVAL_S = 600
/** How many requests of one client may wait at once. */
export const MOST_WAITING = 100

export const clientTypes = ['sdk', 'cli', 'mcp', 'api', 'browser', 'other'] as const

const schema = defineEntity({
  ...tenantTable('DeviceSession', 'sessions'),
  properties: {
    ...record('session'),
    ...realTimestamps(),
    status: p.enum(sessionMachine.states).onCreate(() => sessionMachine.initial),
    /** Of the code by which the device asks. */
    hash: p.text(),
    /** Of the code that the person types. */
    userHash: p.text(),
    deviceId: p.text(),
    deviceName: p.text(),
    clientType: p.enum(clientTypes),
    /** Asked for, and from the decision on given. Null: all that the person may give. */
    scopes: p
      .array()
      .columnType('text[]')
      .$type<Scope[] | null>()
      .strictNullable()
      .onCreate(() => null),
    /** Whether the device has asked for a key that changes things by the tools of an assistant. */
    toolWrites: p.boolean().onCreate(() => false),
    boundTo: nullable.string(),
    /** Where the device asked from, and the client behind it. */
    address: nullable.string(),
    client: p.text(),
    intervalSeconds: p.integer().onCreate(() => INTERVAL_S),
    polledAt: nullable.instant(),
    /** The account one of whose people has looked it up last. */
    shownTo: nullable.string(),
    /** The person who has decided. */
    personId: nullable.string(),
    keyId: nullable.string(),
    decidedAt: nullable.instant(),
    endedAt: nullable.instant(),
    /** When it ends if nothing happens; of an active one, when to look whether the key was used meanwhile. */
    endsAt: timestamp(),
    /** When it is deleted, where nobody has decided. */
    forgetAt: nullable.instant(),
  },
})

/** A device that asks for a key of its own, and from then on the session in which it uses it. Its instants are in real time. */
export class DeviceSession extends schema.class {}
schema.setClass(DeviceSession)
