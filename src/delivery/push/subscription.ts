import { ECDH } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Actor } from '../../kernel/contract/actor.ts'
import { nullable, record, tenantTable, textArray } from '../../kernel/database/entity.ts'

const schema = defineEntity({
  ...tenantTable('PushSubscription', 'push_subscriptions'),
  properties: {
    ...record('push'),
    /** Not secret: a push that is not signed with our key is not shown by the browser. */
    endpoint: p.text(),
    p256dh: p.text(),
    /** Sealed. */
    auth: p.text(),
    events: textArray(),
    label: nullable.string(),
    /** Who has subscribed this browser in the console; null where a key did. */
    personId: nullable.string(),
    expiresAt: nullable.instant(),
  },
})

export class PushSubscription extends schema.class {}
schema.setClass(PushSubscription)

/** In the console, only owners touch the browsers of others. */
export const isForeign = (
  { personId }: Pick<PushSubscription, 'personId'>,
  { type, id, scopes }: Actor,
): boolean => type === 'console' && id !== personId && !scopes.has('people:write')

/** Binds a sealed secret to its subscription: it cannot be opened for another record. */
export const sealContext = (subscriptionId: string): string => `push-auth:${subscriptionId}`

/** The events that a browser gets by default: those that a person should act on. */
export const urgentEvents: readonly string[] = [
  'intent.created',
  'transfer.failed',
  'agent.frozen',
  'risk.review_required',
  'risk.agent_frozen',
  'person.recovery_started',
]

/** Whether this is a point of P-256, as a browser writes it: base64url of 65 bytes. */
export function isPublicKey(text: string): boolean {
  if (!/^[\w-]{87}=?$/.test(text)) return false
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 65 || bytes[0] !== 4) return false
  try {
    ECDH.convertKey(bytes, 'prime256v1')
    return true
  } catch {
    return false
  }
}
