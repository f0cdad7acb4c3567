import type { Context } from '../../kernel/contract/context.ts'
import type { Condition, Records } from '../../kernel/contract/records.ts'
import { newSecret, traceOf } from '../../kernel/database/credential.ts'
import { clock } from '../../values/clock.ts'
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

export type Ending = Pick<Context<never, Pick<typeof keyEvents, 'key.revoked'>>, 'records' | 'emit'>

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
