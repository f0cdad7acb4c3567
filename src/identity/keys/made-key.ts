import type { FilterQuery } from '@mikro-orm/core'
import type { EmitContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { hashAndHint, newBearerSecret } from '../../kernel/database/credential.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import type { apiKeyEvents } from './api.ts'
import { ApiKey } from './key.ts'

type Members = Pick<ApiKey, 'name' | 'environment' | 'granted' | 'expiresAt'> &
  Partial<
    Pick<
      ApiKey,
      | 'madeById'
      | 'madeByPersonId'
      | 'firstId'
      | 'idleDays'
      | 'toolWrites'
      | 'boundTo'
      | 'sessionId'
      | 'personId'
    >
  >

export type IssuedApiKey = ApiKey & { key: string }

export function createApiKey(members: Members, { em, settings }: WriteContext): IssuedApiKey {
  const secret = newBearerSecret(`sk_${members.environment}_`, settings)
  return Object.assign(em.create(ApiKey, { toolWrites: false, ...members, ...hashAndHint(secret) }), {
    key: secret,
  })
}

export const apiKeyEvent = ({ id, name, environment, expiresAt, madeById, sessionId }: ApiKey) => ({
  keyId: id,
  name,
  environment,
  expiresAt,
  madeById,
  sessionId,
})

export function revokeApiKey(
  key: ApiKey,
  { emit }: EmitContext<Pick<typeof apiKeyEvents, 'key.revoked'>>,
): void {
  key.revokedAt = clock.real()
  emit('key.revoked', apiKeyEvent(key))
}

/**
 * Searches again until it finds none: while it waited for a key, that key may have created another. The number
 * of an owner's keys is limited, so this ends.
 */
export async function revokeApiKeys(
  condition: FilterQuery<ApiKey>,
  context: WriteContext<Pick<typeof apiKeyEvents, 'key.revoked'>>,
): Promise<void> {
  const open = { $and: [condition, { revokedAt: null }] }
  for (;;) {
    const found = await context.em.find(ApiKey, open, FOR_UPDATE_BY_ID)
    const keys = found.filter(({ revokedAt }) => revokedAt === null)
    if (keys.length === 0) return
    for (const key of keys) revokeApiKey(key, context)
  }
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

/** Creates a device's key in the tenant of the request. Its secret is returned in `key` only this once. */
export function createDeviceKey(
  { name, scopes, toolWrites, boundTo, personId, sessionId }: DeviceKey,
  context: WriteContext<Pick<typeof apiKeyEvents, 'key.created'>>,
): IssuedApiKey {
  const members: Members = {
    name,
    environment: context.tenant.mode === 'live' ? 'live' : 'sandbox',
    granted: [...scopes],
    expiresAt: addMs(clock.real(), days(DEVICE_KEY_DAYS)),
    idleDays: DEVICE_KEY_IDLE_DAYS,
    toolWrites,
    boundTo,
    personId,
    madeByPersonId: personId,
    sessionId,
  }
  const key = createApiKey(members, context)
  context.emit('key.created', apiKeyEvent(key))
  return key
}

export const revokeKeysOfSession = (
  sessionId: string,
  context: WriteContext<Pick<typeof apiKeyEvents, 'key.revoked'>>,
): Promise<void> => revokeApiKeys({ sessionId }, context)

/** Ends the keys that this key has created in its session. Their keys follow, as each of them is revoked. */
export const revokeKeysMadeInSession = (
  { keyId, sessionId }: Record<'keyId' | 'sessionId', string>,
  context: WriteContext<Pick<typeof apiKeyEvents, 'key.revoked'>>,
): Promise<void> => revokeApiKeys({ sessionId, madeById: keyId }, context)

/**
 * Searches again until it finds no other: while it waited for a key, that key may have been replaced. Outside a
 * session there is none.
 */
export async function lockKeysMadeInSession(
  { id, sessionId }: ApiKey,
  { em }: WriteContext,
): Promise<readonly ApiKey[]> {
  const made = { sessionId, madeById: id, revokedAt: null }
  let locked: ReadonlySet<ApiKey> = new Set()
  while (sessionId) {
    const found = await em.find(ApiKey, made, FOR_UPDATE_BY_ID)
    if (found.every(key => locked.has(key))) return found
    locked = new Set(found)
  }
  return []
}

export const findApiKey = (id: string, { em }: ReadContext): Promise<ApiKey | null> =>
  em.findOne(ApiKey, { id })

export const findApiKeys = (ids: readonly string[], { em }: ReadContext): Promise<ApiKey[]> =>
  em.find(ApiKey, { id: { $in: ids } })
