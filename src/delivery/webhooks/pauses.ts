import type { SqlContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import type { webhooksApi } from './api.ts'
import { createBacklogDeliveries } from './dispatch/backlog-keeper.ts'
import { Webhook } from './webhook.ts'

const lockActive = (em: EntityManager, ids: readonly string[]): Promise<Webhook[]> =>
  em.find(Webhook, { id: { $in: [...ids] }, status: 'active', deletedAt: null }, FOR_UPDATE_BY_ID)

/** Locks the tenant's events and returns the last one: none is added until the transaction ends. */
async function lockEvents({ sql, tenant: { ownerId, mode } }: SqlContext): Promise<string> {
  const [row] = await sql<{ last: string }>('select hold_events($1, $2) as last', [ownerId, mode])
  return row?.last ?? ''
}

interface Named {
  readonly body: { readonly webhookIds: readonly string[] }
}

/** Pauses subscriptions: later events become deliveries only as room becomes free. */
export async function pauseWebhooks({ body }: Named, context: ContextOf<typeof webhooksApi.pause>) {
  const { em, tenant, emit } = context
  const active = await lockActive(em, body.webhookIds)
  const webhooks = active.filter(({ backlogAfter }) => backlogAfter === null)
  if (webhooks.length === 0) return { webhookIds: [] }
  const last = await lockEvents(context)
  const now = clock.real()
  for (const webhook of webhooks)
    Object.assign(webhook, { backlogAfter: last, backlogSince: now, backlogWanted: [] })
  const webhookIds = webhooks.map(({ id }) => id)
  emit('webhook.paused', { ownerId: tenant.ownerId, webhookIds })
  return { webhookIds }
}

/** Resumes the subscriptions that have caught up: events become deliveries at once again. */
export async function resumeWebhooks({ body }: Named, context: ContextOf<typeof webhooksApi.resume>) {
  const { em, sql, tenant, emit } = context
  const webhookIds: string[] = []
  for (const webhook of await lockActive(em, body.webhookIds)) {
    if (webhook.backlogAfter === null) continue
    const { isThrough } = await createBacklogDeliveries(sql, { id: webhook.id, free: MAX_LAST_EVENTS })
    if (!isThrough) continue
    Object.assign(webhook, { backlogAfter: null, backlogSince: null, backlogWanted: [] })
    webhookIds.push(webhook.id)
  }
  if (webhookIds.length > 0) emit('webhook.resumed', { ownerId: tenant.ownerId, webhookIds })
  return { webhookIds }
}

/** The most events that may have arrived since the subscription was found to have caught up. */
const MAX_LAST_EVENTS = 200

/**
 * Before a paused subscription changes, records which events it wanted until now: it is sent those of that
 * time. Events during a disabled time are not sent later.
 */
export async function recordBacklogChange(webhook: Webhook, context: SqlContext): Promise<void> {
  if (webhook.backlogAfter === null) return
  const until = await lockEvents(context)
  const events = webhook.status === 'active' ? webhook.events : []
  webhook.backlogWanted = [...webhook.backlogWanted, { until, events }]
}
