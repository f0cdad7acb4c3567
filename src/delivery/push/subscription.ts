import { ECDH } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { type Actor, isOthers, type Mode, processActor } from '../../kernel/contract/actor.ts'
import type { RegisteredOperation } from '../../kernel/contract/operation.ts'
import { nullable, recordColumns, tenantTable, textArrayColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../kernel/database/personal.ts'
import type { ExecuteCall } from '../../kernel/run/execute.ts'
import type { PersonalData } from '../../values/personal.ts'

const schema = defineEntity({
  ...tenantTable('PushSubscription', 'push_subscriptions'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('push'),
    /** Not secret: browsers only show pushes that are signed with our key. */
    endpoint: personal(p.text(), 'device', 'security', 'address'),
    p256dh: secret(p.text()),
    auth: secret(p.text()),
    events: plain(textArrayColumn()),
    label: personal(nullable.string(), 'words', 'security', 'word'),
    /** The person who subscribed this browser, also with the key of a device; null for another key. */
    personId: nullable.string(),
    expiresAt: nullable.instant(),
  },
})

export class PushSubscription extends schema.class {}
schema.setClass(PushSubscription)

export const isOthersPushSubscription = (
  { personId }: Pick<PushSubscription, 'personId'>,
  actor: Actor,
): boolean => isOthers(personId, actor, 'people:write')

/** Binds a sealed secret to its subscription: it cannot be opened for another record. */
export const pushSecretContext = (subscriptionId: string): string => `push-auth:${subscriptionId}`

/** The default events of a browser: those that need a person. */
export const urgentPushEvents: readonly string[] = [
  'intent.created',
  'intent.approval_escalated',
  'intent.approval_reminder',
  'card_limit_request.approval_escalated',
  'card_limit_request.approval_reminder',
  'change_request.created',
  'mpp.credential.action_required',
  'transfer.failed',
  'agent.frozen',
  'risk.review_required',
  'risk.agent_frozen',
  'person.recovery_started',
]

export function isP256PublicKey(text: string): boolean {
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

export const pushPersonalData = {
  pushes: {
    personal: {},
    plain: ['subscription_id', 'leased_by'],
  },
  vapid_keys: {
    personal: {},
    plain: ['public_key'],
    secret: ['private_key'],
    owner: null,
  },
} as const satisfies PersonalData

interface Parts {
  readonly execute: ExecuteCall
  readonly operations: readonly RegisteredOperation[]
}

interface Gone {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
}

/** Deletes a subscription through an operation, so that an event is emitted. */
export async function deletePushSubscription(
  { execute, operations }: Parts,
  { id, ownerId, mode }: Gone,
): Promise<void> {
  const operation = operations.find(({ key }) => key === 'push.drop')
  if (!operation) return
  await execute({
    operation,
    actor: processActor({ ownerId, mode }),
    input: { params: { id }, query: {}, body: {} },
    requestId: `push:${id}`,
    address: null,
    idempotencyKey: null,
  })
}
