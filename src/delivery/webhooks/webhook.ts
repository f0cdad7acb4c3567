import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { maybe, record, tenantTable, words } from '../../kernel/database/entity.ts'

export const webhookMachine = machine('webhook', {
  active: ['disabled'],
  disabled: ['active'],
})

/** What a subscription wanted to hear of, up to an event. */
export interface Wanted {
  readonly until: string
  readonly events: readonly string[]
}

const schema = defineEntity({
  ...tenantTable('Webhook', 'webhooks'),
  properties: {
    ...record('webhook'),
    url: p.text(),
    events: words(),
    description: maybe.string(),
    status: p.enum(webhookMachine.states).onCreate(() => webhookMachine.initial),
    statusReason: maybe.string(),
    /** Sealed, as the next one is. */
    secret: p.text(),
    hint: p.text(),
    nextSecret: maybe.string(),
    nextHint: maybe.string(),
    /** From this instant on the next secret is the secret. */
    nextFrom: maybe.instant(),
    /** Rounds of attempts without a success between them, since when, and how long nothing is tried therefore. */
    failures: p.integer().onCreate(() => 0),
    failingSince: maybe.instant(),
    pausedUntil: maybe.instant(),
    /** Where too much waits: events up to this one have deliveries, later ones get theirs as room becomes free. */
    backlogAfter: maybe.string(),
    backlogSince: maybe.instant(),
    /** What it wanted in stretches of that time that have ended, oldest first. */
    backlogWanted: p.json<readonly Wanted[]>().onCreate(() => []),
    deletedAt: maybe.instant(),
  },
})

export class Webhook extends schema.class {
  /** Nothing is known to be wrong with its receiver. */
  makeWell(): void {
    Object.assign(this, { failures: 0, failingSince: null, pausedUntil: null })
  }
}
schema.setClass(Webhook)

/** What a sealed secret belongs to: on another record it opens nothing. */
export const sealContext = (webhookId: string): string => `webhook-secret:${webhookId}`
