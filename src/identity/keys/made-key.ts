import type { Context } from '../../kernel/contract/context.ts'
import type { Condition, Records } from '../../kernel/contract/records.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { newSecret, traceOf } from '../../kernel/database/credential.ts'
import { after, clock, days } from '../../values/clock.ts'
import type { keyEvents } from './api.ts'
import { Key } from './key.ts'

type Members = Pick<Key, 'name' | 'environment' | 'granted' | 'expiresAt'> &
  Partial<Pick<Key, 'madeById' | 'idleDays' | 'toolWrites' | 'boundTo' | 'sessionId' | 'personId'>>

/** A key with its secret, which is shown in one response only and not stored. */
export type MadeKey = Key & { key: string }

export function createKey(records: Records, members: Members): MadeKey {
  const secret = newSecret(`sk_${members.environment}_`)
  return Object.assign(records.create(Key, { toolWrites: false, ...members, ...traceOf(secret) }), {
    key: secret,
  })
}

export const keyEvent = ({ id, name, environment, expiresAt, madeById, sessionId }: Key) => ({
  keyId: id,
  name,
  environment,
  expiresAt,
  madeById,
  sessionId,
})

type Ending = Pick<Context<never, Pick<typeof keyEvents, 'key.revoked'>>, 'records' | 'emit'>

/** Ends a key that is locked and not revoked. */
export function endKey(key: Key, { emit }: Pick<Ending, 'emit'>): void {
  key.revokedAt = clock.real()
  emit('key.revoked', keyEvent(key))
}

/** Ends the matching keys that nobody has revoked. */
export async function endKeys(condition: Condition<Key>, context: Ending): Promise<void> {
  const open = { $and: [condition, { revokedAt: null }] }
  const keys = await context.records.find(Key, open, { orderBy: { id: 'asc' }, lock: true })
  for (const key of keys) endKey(key, context)
}

/** A device's key ends after so many days, and earlier after so many without a use. */
const DEVICE_KEY_DAYS = 90
const DEVICE_KEY_IDLE_DAYS = 30

interface DeviceKey {
  /** The name of the device. */
  readonly name: string
  /** At least one: those that the person has chosen, who has them all. */
  readonly scopes: readonly Scope[]
  /** Whether it changes things by the tools of an assistant: the person has read that it does. */
  readonly toolWrites: boolean
  /** The thumbprint (RFC 7638) of the key whose proof each request must carry; null where none must. */
  readonly boundTo: string | null
  /** The person who has agreed: the key may no more than this person may, and ends with them. */
  readonly personId: string
  /** The session, or the pairing, in which that was. */
  readonly sessionId: string
}

type Making = Pick<Context<never, Pick<typeof keyEvents, 'key.created'>>, 'records' | 'tenant' | 'emit'>

/** Makes the key of a device in the tenant for which the request acts: its secret is in `key`, this once. */
export function makeDeviceKey(
  { name, scopes, toolWrites, boundTo, personId, sessionId }: DeviceKey,
  { records, tenant, emit }: Making,
): MadeKey {
  const key = createKey(records, {
    name,
    environment: tenant.mode === 'live' ? 'live' : 'sandbox',
    granted: [...scopes],
    expiresAt: after(clock.real(), days(DEVICE_KEY_DAYS)),
    idleDays: DEVICE_KEY_IDLE_DAYS,
    toolWrites,
    boundTo,
    personId,
    sessionId,
  })
  emit('key.created', keyEvent(key))
  return key
}

/** Ends every key of a session or pairing, also those that have replaced the first one. */
export const endKeysOf = (sessionId: string, context: Ending): Promise<void> =>
  endKeys({ sessionId }, context)

/** A key of the tenant, in whatever state. */
export const findKey = (id: string, { records }: Pick<Context, 'records'>): Promise<Key | null> =>
  records.findOne(Key, { id })

export const findKeys = (ids: readonly string[], { records }: Pick<Context, 'records'>): Promise<Key[]> =>
  records.find(Key, { id: { $in: ids } })
