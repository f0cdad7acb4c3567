import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable, textArrayColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../kernel/database/personal.ts'
import type { PersonalData } from '../../values/personal.ts'

export const webhookMachine = stateMachine('webhook', {
  active: ['disabled'],
  disabled: ['active'],
})

/** The events that a subscription wanted, up to the event `until`. Stored, so member names cannot change. */
interface WantedEvents {
  readonly until: string
  readonly events: readonly string[]
}

const schema = defineEntity({
  ...tenantTable('Webhook', 'webhooks'),
  ...personalTable({ plain: ['backlog_position'] }),
  properties: {
    ...recordColumns('webhook'),
    url: personal(p.text(), 'contact', 'contract', 'address'),
    events: plain(textArrayColumn()),
    description: personal(nullable.string(), 'words', 'contract', 'word'),
    status: p.enum(webhookMachine.states).onCreate(() => webhookMachine.initial),
    statusReason: plain(nullable.string()),
    /** Sealed, as `nextSecret` is. */
    secret: secret(p.text()),
    hint: plain(p.text()),
    nextSecret: secret(nullable.string()),
    nextHint: plain(nullable.string()),
    nextFrom: nullable.instant(),
    /** Failed rounds since the last success, when the first of them was, and until when the receiver is paused. */
    failures: p.integer().onCreate(() => 0),
    failingSince: nullable.instant(),
    pausedUntil: nullable.instant(),
    /** Null unless paused. Events up to this one have deliveries; later ones get theirs as room becomes free. */
    backlogAfter: plain(nullable.string()),
    backlogSince: nullable.instant(),
    /** The events that it wanted before it was changed while paused, oldest first. */
    backlogWanted: plain(p.json<readonly WantedEvents[]>().onCreate(() => [])),
    deletedAt: nullable.instant(),
  },
})

export class Webhook extends schema.class {
  clearFailures(): void {
    Object.assign(this, { failures: 0, failingSince: null, pausedUntil: null })
  }
}
schema.setClass(Webhook)

/** The summary of a timer in Temporal holds 400 bytes, and an address may be longer. */
const HOST_CHARACTERS = 100

/** What Temporal may hold of a receiver's address: not its path and query, which may be a secret. */
export function receiverHost({ url }: Pick<Webhook, 'url'>): string {
  const { host } = new URL(url)
  return host.length > HOST_CHARACTERS ? `…${host.slice(-HOST_CHARACTERS)}` : host
}

/** Binds a sealed secret to its subscription: it cannot be opened for another record. */
export const webhookSecretContext = (webhookId: string): string => `webhook-secret:${webhookId}`

export const webhooksPersonalData = {
  webhook_versions: { personal: {}, plain: ['webhook_id', 'events'] },
  delivery_position: { personal: {}, plain: ['position'], owner: null },
  retries_under_way: { personal: {}, plain: ['delivery_id', 'webhook_id', 'leased_by'], owner: null },
  delivery_ranges: { personal: {}, plain: ['leased_by', 'begins', 'ends'], owner: null },
} as const satisfies PersonalData

interface PlanLimits {
  /** The most subscriptions of an owner in each mode. */
  readonly subscriptions: number
  readonly waiting: number
}

const free: PlanLimits = { subscriptions: 5, waiting: 5_000 }

const byPlan: Readonly<Record<string, PlanLimits>> = {
  free,
  starter: { subscriptions: 20, waiting: 20_000 },
  business: { subscriptions: 100, waiting: 50_000 },
  enterprise: { subscriptions: 1_000, waiting: 100_000 },
}

export const maxWebhooksOfPlan = (plan: string): number => (byPlan[plan] ?? free).subscriptions

export const MAX_WAITING_BY_PLAN_JSON = JSON.stringify(
  Object.fromEntries(Object.entries(byPlan).map(([plan, { waiting }]) => [plan, waiting])),
)

/** How often the events or the status of a paused subscription may change: each change is recorded on it. */
export const MAX_RECORDED_BACKLOG_CHANGES = 20
