import type {
  Context,
  EmitContext,
  ReadContext,
  SqlContext,
  WriteContext,
} from '../../kernel/contract/context.ts'
import type { EntityManager, EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { definedOnly, FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { eventNamesProblem } from '../events/index.ts'
import { webhooksApi } from './api.ts'
import type { WebhookDisableReason } from './dispatch/retry.ts'
import { pauseWebhooks, recordBacklogChange, resumeWebhooks } from './pauses.ts'
import { webhookResponse } from './response.ts'
import { continueRuns } from './runs.ts'
import { activateNextWebhookSecret, newWebhookSecret } from './secrets.ts'
import { sendTestDelivery } from './test-delivery.ts'
import { MAX_RECORDED_BACKLOG_CHANGES, maxWebhooksOfPlan, Webhook, webhookMachine } from './webhook.ts'

const notDeleted = { deletedAt: null }

export const findWebhook = (em: EntityReader, id: string): Promise<Webhook | null> =>
  em.findOne(Webhook, { id, ...notDeleted })

/** Locks a subscription that is not deleted, and activates its next secret if that is due. */
export async function lockWebhook(em: EntityManager, id: string): Promise<Webhook | null> {
  const webhook = await em.findOne(Webhook, { id }, FOR_UPDATE)
  if (!webhook || webhook.deletedAt) return null
  if (webhook.nextFrom && webhook.nextFrom <= clock.real()) activateNextWebhookSecret(webhook)
  return webhook
}

const webhookEvent = ({ id, status, statusReason }: Webhook) => ({
  webhookId: id,
  status,
  reason: statusReason,
})

export const notifyDeliverers = (sql: Sql): Promise<unknown> => sql('notify deliveries')

/** Makes deliverers release claimed deliveries of a subscription whose URL, secret or status changes. */
const notifyChanged = (sql: Sql, { id }: Webhook): Promise<unknown> =>
  sql(`select pg_notify('deliveries', $1)`, [id])

const CLEAR_PAUSES = `
update webhooks set paused_until = null
where owner_id = $1 and mode = $2 and id = any($3::text[]) and paused_until is not null returning id`

type Ending = SqlContext & EmitContext

/** Ends the pauses of receivers that have failed, on a person's request. */
export async function endPauses(context: Ending, webhookIds: readonly string[]): Promise<void> {
  const { sql, tenant } = context
  const values = [tenant.ownerId, tenant.mode, [...new Set(webhookIds)].sort()]
  const ended = await sql<{ id: string }>(CLEAR_PAUSES, values)
  if (ended.length > 0)
    await continueRuns(
      context,
      ended.map(({ id }) => id),
    )
}

/** Has deliverers call receivers at once, even those paused after failures, on a person's request. */
export async function retryReceiversNow(context: Ending, webhookIds: readonly string[]): Promise<void> {
  await endPauses(context, webhookIds)
  await notifyDeliverers(context.sql)
}

export async function planOf({ sql, tenant }: SqlContext): Promise<string> {
  const [owner] = await sql<{ plan: string }>('select plan from customers where id = $1', [tenant.ownerId])
  return owner?.plan ?? 'free'
}

const shown = async (webhook: Webhook, { sql, tenant, now, settings }: ReadContext) =>
  webhookResponse(webhook, { now, settings, plan: await planOf({ sql, tenant }) })

async function planExceeded(plan: string, { em }: ReadContext) {
  const most = maxWebhooksOfPlan(plan)
  const count = await em.count(Webhook, notDeleted)
  if (count < most) return undefined
  const number = (of: number) => of.toLocaleString('en')
  return `The plan ${plan} allows ${number(most)} subscriptions in each mode, and there are already ${number(count)}. Delete one, add events to an existing one, or ask for a larger plan.`
}

interface SubscriptionRequest {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
}

type CheckContext = Context<'url_refused' | 'unknown_event'>

const LISTEN = ' For a receiver on your own machine use `agentpay webhooks listen --forward`.'

function requestRefusal({ url, events }: SubscriptionRequest, { systems, service, refuse }: CheckContext) {
  const refused = url === undefined ? undefined : systems.outbound.judge(url)
  if (refused)
    return refuse('url_refused', `url: ${refused.message}${refused.rule === 'loopback' ? LISTEN : ''}`)
  const unknown = events && eventNamesProblem('events', events, service)
  return unknown === undefined ? undefined : refuse('unknown_event', unknown)
}

function setStatus(webhook: Webhook, status: Webhook['status']): void {
  if (!webhookMachine.move(webhook, status)) return
  webhook.statusReason = status === 'disabled' ? 'Disabled by its owner.' : null
  if (status === 'active') webhook.clearFailures()
}

const GIVE_UP_REASONS = {
  gone: 'The receiver answered 410 (Gone).',
  failing: 'The receiver has failed for five days.',
} as const

/** Disables a subscription, and tells whether that changed it; undefined where there is none. */
export async function giveUpWebhook(
  id: string,
  { reason, url }: WebhookDisableReason,
  context: WriteContext<(typeof webhooksApi.giveUp)['emits']>,
): Promise<boolean | undefined> {
  const webhook = await lockWebhook(context.em, id)
  if (!webhook) return undefined
  const isAbout = url === null || url === webhook.url
  if (!isAbout || webhook.status === 'disabled') return false
  await recordBacklogChange(webhook, context)
  const acted = webhookMachine.move(webhook, 'disabled')
  webhook.statusReason = GIVE_UP_REASONS[reason]
  await notifyChanged(context.sql, webhook)
  context.emit('webhook.disabled', webhookEvent(webhook))
  return acted
}

export const webhookHandlers = bindHandlers(webhooksApi, {
  async create({ body: { ping, ...body } }, context) {
    const { em, now, systems, settings, emit, refuse } = context
    const unfit = requestRefusal(body, context)
    if (unfit) return unfit
    await lockTenant(context, 'webhooks')
    const plan = await planOf(context)
    const beyond = await planExceeded(plan, context)
    if (beyond) return refuse('too_many_webhooks', beyond)
    const id = newId('webhook')
    const { secrets, sealed, hint } = newWebhookSecret(systems.vault, id)
    const events = [...new Set(body.events)]
    const webhook = em.create(Webhook, { ...body, events, id, secret: sealed, hint })
    emit('webhook.created', webhookEvent(webhook))
    if (ping) emit('webhook.ping', { webhookId: id })
    return withMembers(webhookResponse(webhook, { now, settings, plan }), secrets)
  },

  async list({ query: { status } }, context) {
    const { now, settings } = context
    const [plan, page] = await Promise.all([
      planOf(context),
      context.page(Webhook, { ...notDeleted, ...definedOnly({ status }) }),
    ])
    return { ...page, data: page.data.map(webhook => webhookResponse(webhook, { now, settings, plan })) }
  },

  async get({ params }, context) {
    const webhook = await findWebhook(context.em, params.id)
    return webhook ? shown(webhook, context) : context.refuse('webhook_not_found')
  },

  async update({ params, body: { status, ...members } }, context) {
    const { em, emit, refuse } = context
    const unfit = requestRefusal(members, context)
    if (unfit) return unfit
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    const changed = Object.keys(definedOnly({ ...members, status }))
    if (members.events || (status && status !== webhook.status)) {
      if (webhook.backlogWanted.length >= MAX_RECORDED_BACKLOG_CHANGES) return refuse('changed_too_often')
      await recordBacklogChange(webhook, context)
    }
    const isMoved = members.url !== undefined && members.url !== webhook.url
    if (isMoved) webhook.clearFailures()
    Object.assign(webhook, definedOnly(members))
    if (status) setStatus(webhook, status)
    if (isMoved || status === 'active') await continueRuns(context, [webhook.id])
    await notifyChanged(context.sql, webhook)
    emit('webhook.updated', { ...webhookEvent(webhook), changed })
    return shown(webhook, context)
  },

  async delete({ params }, context) {
    const { em, now, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    webhook.deletedAt = now
    await notifyChanged(context.sql, webhook)
    emit('webhook.deleted', webhookEvent(webhook))
  },

  test: sendTestDelivery,

  async rotateSecret({ params, body: { overlapHours } }, context) {
    const { em, systems, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    const { secrets, sealed, hint } = newWebhookSecret(systems.vault, webhook.id)
    const from = addMs(clock.real(), minutes(overlapHours * 60))
    Object.assign(webhook, { nextSecret: sealed, nextHint: hint, nextFrom: from })
    if (overlapHours === 0) activateNextWebhookSecret(webhook)
    await notifyChanged(context.sql, webhook)
    emit('webhook.secret_rotated', { webhookId: webhook.id, from })
    return withMembers(await shown(webhook, context), secrets)
  },

  async activateSecret({ params }, context) {
    const { em, emit, refuse } = context
    const webhook = await lockWebhook(em, params.id)
    if (!webhook) return refuse('webhook_not_found')
    if (webhook.nextSecret === null) return refuse('no_next_secret')
    activateNextWebhookSecret(webhook)
    await notifyChanged(context.sql, webhook)
    emit('webhook.secret_activated', { webhookId: webhook.id })
    return shown(webhook, context)
  },

  pause: pauseWebhooks,
  resume: resumeWebhooks,

  async giveUp({ params, body }, context) {
    const acted = await giveUpWebhook(params.id, body, context)
    return acted === undefined ? context.refuse('webhook_not_found') : { acted }
  },
})
