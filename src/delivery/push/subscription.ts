import { ECDH } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { maybe, record, tenantTable, words } from '../../kernel/database/entity.ts'

const schema = defineEntity({
  ...tenantTable('PushSubscription', 'push_subscriptions'),
  properties: {
    ...record('push'),
    /** Whoever knows it can have the push service store messages; only the holder of our key can have them shown. */
    endpoint: p.text(),
    p256dh: p.text(),
    /** Sealed. */
    auth: p.text(),
    events: words(),
    label: maybe.string(),
    expiresAt: maybe.instant(),
  },
})

export class PushSubscription extends schema.class {}
schema.setClass(PushSubscription)

/** What a sealed secret belongs to: on another record it opens nothing. */
export const sealContext = (subscriptionId: string): string => `push-auth:${subscriptionId}`

/** What is waited for by a person: this is what a browser hears of when nothing else is said. */
export const urgentEvents: readonly string[] = [
  'intent.created',
  'transfer.failed',
  'agent.frozen',
  'risk.review_required',
  'risk.agent_frozen',
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
