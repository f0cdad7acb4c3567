import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { answered, given, lock } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { after, clock, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { misnamed } from '../events/index.ts'
import { webhooksApi } from './api.ts'
import { keepWanted, pause, resume } from './pauses.ts'
import { MOST_CHANGES, subscriptionsOf } from './plan-limits.ts'
import { shown } from './response.ts'
import { activate, makeSecret } from './secrets.ts'
import { trial } from './test-delivery.ts'
import { Webhook, webhookMachine } from './webhook.ts'

const standing = { deletedAt: null }

export const findWebhook = (em: EntityManager, id: string): Promise<Webhook | null> =>
  em.findOne(Webhook, { id, ...standing })

/** One that has not been deleted, locked, with the secret that counts by now. */
export async function lockWebhook(em: EntityManager, id: string): Promise<Webhook | null> {
  const webhook = await lock(em, Webhook, id)
  if (!webhook || webhook.deletedAt) return null
  if (webhook.nextFrom && webhook.nextFrom <= clock.real()) activate(webhook)
  return webhook
}

const about = ({ id, status, statusReason }: Webhook) => ({ webhookId: id, status, reason: statusReason })

/** What is due may have become possible: whoever delivers looks once this is committed. */
export const tellDeliverers = ({ sql }: Pick<Context, 'sql'>): Promise<unknown> => sql('notify deliveries')

/** Whoever has taken something for this subscription is to take it anew: by another address or secret, or not at all. */
const tellOfChange = ({ sql }: Pick<Context, 'sql'>, { id }: Webhook): Promise<unknown> =>
  sql(`select pg_notify('deliveries', $1)`, [id])

const PROBE =
  'update webhooks set paused_until = null where id = any($1::text[]) and paused_until is not null'

/** Somebody wishes it: a receiver that is left alone is tried at once. */
export async function probe({ sql }: Pick<Context, 'sql'>, webhookIds: readonly string[]): Promise<void> {
  await sql(PROBE, [[...new Set(webhookIds)].sort()])
  await tellDeliverers({ sql })
}

/** Why its plan has no room for another subscription; undefined where it has. One that has more already keeps them. */
async function beyondPlan({ em, sql, tenant }: Pick<Context, 'em' | 'sql' | 'tenant'>) {
  const [owner] = await sql<{ plan: string }>('select plan from customers where id = $1', [tenant.ownerId])
  const plan = owner?.plan ?? 'free'
  const [most, count] = [subscriptionsOf(plan), await em.count(Webhook, standing)]
  if (count < most) return undefined
  const number = (of: number) => of.toLocaleString('en')
  return `The plan ${plan} has ${number(most)} subscriptions in each mode, and there are ${number(count)} already. Delete one, let one hear of more events, or ask for a larger plan.`
}

interface Asked {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
}

type Judging = Pick<Context, 'ports'> & {
  refuse(code: 'url_refused' | 'unknown_event', message?: string): ReturnType<Context['refuse']>
}

/** Why it cannot be so; undefined where it can. */
function misfit({ url, events }: Asked, { ports, refuse }: Judging) {
  const refused = url === undefined ? undefined : ports.outbound.judge(url)
  if (refused) return refuse('url_refused', `url: ${refused.message}`)
  const unknown = events && misnamed('events', events, ports)
  return unknown === undefined ? undefined : refuse('unknown_event', unknown)
}

/** By its owner's will. */
function setStatus(webhook: Webhook, status: Webhook['status']): void {
  if (!webhookMachine.move(webhook, status)) return
  webhook.statusReason = status === 'disabled' ? 'Disabled by its owner.' : null
  if (status === 'active') webhook.makeWell()
}

const GIVEN_UP = {
  gone: 'The receiver answered 410: it wants nothing more.',
  failing: 'The receiver has taken nothing for five days.',
} as const

export const subscriptions = implement(webhooksApi, {
  async create({ body: { ping, ...body } }, context) {
    const { em, ports, emit, refuse } = context
    const unfit = misfit(body, context)
    if (unfit) return unfit
    await lockTenant(context, 'webhooks')
    const beyond = await beyondPlan(context)
    if (beyond) return refuse('too_many_webhooks', beyond)
    const id = newId('webhook')
    const { secret, sealed, hint } = makeSecret(ports.vault, id)
    const events = [...new Set(body.events)]
    const webhook = em.create(Webhook, { ...body, events, id, secret: sealed, hint })
    emit('webhook.created', about(webhook))
    if (ping) emit('webhook.ping', { webhookId: id })
    return answered(shown(webhook, context), { secret })
  },

  async list({ query: { status } }, context) {
    const found = await context.page(Webhook, { ...standing, ...given({ status }) })
    return { ...found, data: found.data.map(webhook => shown(webhook, context)) }
  },

  async get({ params }, context) {
    const webhook = await findWebhook(context.em, params.id)
    return webhook ? shown(webhook, context) : context.refuse('webhook_not_found')
  },

  async update({ params, body: { status, ...members } }, context) {
    const { em, emit, refuse } = context
    const unfit = misfit(members, context)
    if (unfit) return unfit
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    const changed = Object.keys(given({ ...members, status }))
    if (members.events || (status && status !== webhook.status)) {
      if (webhook.backlogWanted.length >= MOST_CHANGES) return refuse('changed_too_often')
      await keepWanted(webhook, context)
    }
    if (members.url !== undefined && members.url !== webhook.url) webhook.makeWell()
    Object.assign(webhook, given(members))
    if (status) setStatus(webhook, status)
    await tellOfChange(context, webhook)
    emit('webhook.updated', { ...about(webhook), changed })
    return shown(webhook, context)
  },

  async delete({ params }, context) {
    const { em, now, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    webhook.deletedAt = now
    await tellOfChange(context, webhook)
    emit('webhook.deleted', about(webhook))
  },

  test: trial,

  async rotateSecret({ params, body: { overlapHours } }, context) {
    const { em, ports, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    const { secret, sealed, hint } = makeSecret(ports.vault, webhook.id)
    const from = after(clock.real(), minutes(overlapHours * 60))
    Object.assign(webhook, { nextSecret: sealed, nextHint: hint, nextFrom: from })
    if (overlapHours === 0) activate(webhook)
    await tellOfChange(context, webhook)
    emit('webhook.secret_rotated', { webhookId: webhook.id, from })
    return answered(shown(webhook, context), { secret })
  },

  async activateSecret({ params }, context) {
    const { em, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    if (webhook.nextSecret === null) return refuse('no_next_secret')
    activate(webhook)
    await tellOfChange(context, webhook)
    emit('webhook.secret_activated', { webhookId: webhook.id })
    return shown(webhook, context)
  },

  pause,
  resume,

  async giveUp({ params, body: { reason, url } }, context) {
    const { em, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    const isAbout = url === null || url === webhook.url
    if (!isAbout || webhook.status === 'disabled') return { acted: false }
    await keepWanted(webhook, context)
    const acted = webhookMachine.move(webhook, 'disabled')
    webhook.statusReason = GIVEN_UP[reason]
    await tellOfChange(context, webhook)
    emit('webhook.disabled', about(webhook))
    return { acted }
  },
})
