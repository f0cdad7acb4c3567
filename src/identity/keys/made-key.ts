import type { Context } from '../../kernel/contract/context.ts'
import type { Condition, Records } from '../../kernel/contract/records.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { hashAndHint, newSecret } from '../../kernel/database/credential.ts'
import { after, clock, days } from '../../values/clock.ts'
import type { keyEvents } from './api.ts'
import { Key } from './key.ts'

type Members = Pick<Key, 'name' | 'environment' | 'granted' | 'expiresAt'> &
  Partial<Pick<Key, 'madeById' | 'idleDays' | 'toolWrites' | 'boundTo' | 'sessionId' | 'personId'>>

export type MadeKey = Key & { key: string }

export function createKey(records: Records, members: Members): MadeKey {
  const secret = newSecret(`sk_${members.environment}_`)
  return Object.assign(records.create(Key, { toolWrites: false, ...members, ...hashAndHint(secret) }), {
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

export function endKey(key: Key, { emit }: Pick<Ending, 'emit'>): void {
  key.revokedAt = clock.real()
  emit('key.revoked', keyEvent(key))
}

export async function endKeys(condition: Condition<Key>, context: Ending): Promise<void> {
  const open = { $and: [condition, { revokedAt: null }] }
  const keys = await context.records.find(Key, open, { orderBy: { id: 'asc' }, lock: true })
  for (const key of keys) endKey(key, context)
}

/** A device's key expires after this many days, and earlier if it is unused. */
const DEVICE_KEY_DAYS = 90
const DEVICE_KEY_IDLE_DAYS = 30

interface DeviceKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly toolWrites: boolean
  /** The thumbprint (RFC 7638) of the key whose proof each request must contain; null if there is none. */
  readonly boundTo: string | null
  /** The approving person. The key's scopes are limited to theirs, and it ends with them. */
  readonly personId: string
  readonly sessionId: string
}

type Making = Pick<Context<never, Pick<typeof keyEvents, 'key.created'>>, 'records' | 'tenant' | 'emit'>

/** Creates a device's key in the tenant of the request. Its secret is returned in `key` only this once. */
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

export const endKeysOf = (sessionId: string, context: Ending): Promise<void> =>
  endKeys({ sessionId }, context)

export const findKey = (id: string, { records }: Pick<Context, 'records'>): Promise<Key | null> =>
  records.findOne(Key, { id })

export const findKeys = (ids: readonly string[], { records }: Pick<Context, 'records'>): Promise<Key[]> =>
  records.find(Key, { id: { $in: ids } })
