import { LockMode } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { clock } from '../../values/clock.ts'
import type { webhooksApi } from './api.ts'
import { replay } from './dispatch/backlog-keeper.ts'
import { Webhook } from './webhook.ts'

/** Those of these that are served, locked in the order of their ids. */
const lockServed = (em: EntityManager, ids: readonly string[]): Promise<Webhook[]> =>
  em.find(
    Webhook,
    { id: { $in: [...ids] }, status: 'active', deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' }, refresh: true },
  )

type Holding = Pick<Context, 'sql' | 'tenant'>

/** The last event of this tenant: all before are committed, and none comes after it until the transaction ends. */
async function holdEvents({ sql, tenant: { ownerId, mode } }: Holding): Promise<string> {
  const [row] = await sql<{ last: string }>('select hold_events($1, $2) as last', [ownerId, mode])
  return row?.last ?? ''
}

interface Named {
  readonly body: { readonly webhookIds: readonly string[] }
}

/** What happens from now on is not made into deliveries for them before there is room. */
export async function pause({ body }: Named, context: ContextOf<typeof webhooksApi.pause>) {
  const { em, tenant, emit } = context
  const found = await lockServed(em, body.webhookIds)
  const webhooks = found.filter(({ backlogAfter }) => backlogAfter === null)
  if (webhooks.length === 0) return { webhookIds: [] }
  const last = await holdEvents(context)
  const now = clock.real()
  for (const webhook of webhooks)
    Object.assign(webhook, { backlogAfter: last, backlogSince: now, backlogWanted: [] })
  const webhookIds = webhooks.map(({ id }) => id)
  emit('webhook.paused', { ownerId: tenant.ownerId, webhookIds })
  return { webhookIds }
}

/** Those that have caught up hear of what happens at once again. */
export async function resume({ body }: Named, context: ContextOf<typeof webhooksApi.resume>) {
  const { em, sql, tenant, emit } = context
  const webhookIds: string[] = []
  for (const webhook of await lockServed(em, body.webhookIds)) {
    if (webhook.backlogAfter === null) continue
    const { isThrough } = await replay(sql, { id: webhook.id, free: MOST_AT_LAST })
    if (!isThrough) continue
    Object.assign(webhook, { backlogAfter: null, backlogSince: null, backlogWanted: [] })
    webhookIds.push(webhook.id)
  }
  if (webhookIds.length > 0) emit('webhook.resumed', { ownerId: tenant.ownerId, webhookIds })
  return { webhookIds }
}

/** What has happened since it was found to have caught up. */
const MOST_AT_LAST = 200

/**
 * Before a paused subscription is changed: what it wanted until now is what it will be sent of that time. What happens
 * while it is disabled is not sent later.
 */
export async function keepWanted(webhook: Webhook, context: Holding): Promise<void> {
  if (webhook.backlogAfter === null) return
  const until = await holdEvents(context)
  const events = webhook.status === 'active' ? webhook.events : []
  webhook.backlogWanted = [...webhook.backlogWanted, { until, events }]
}
