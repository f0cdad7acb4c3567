import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, textArray } from '../../kernel/database/entity.ts'

export const webhookMachine = machine('webhook', {
  active: ['disabled'],
  disabled: ['active'],
})

/** The events that a subscription wanted, up to the event `until`. Stored: names stay. */
export interface WantedEvents {
  readonly until: string
  readonly events: readonly string[]
}

const schema = defineEntity({
  ...tenantTable('Webhook', 'webhooks'),
  properties: {
    ...record('webhook'),
    url: p.text(),
    events: textArray(),
    description: nullable.string(),
    status: p.enum(webhookMachine.states).onCreate(() => webhookMachine.initial),
    statusReason: nullable.string(),
    /** Sealed, as `nextSecret` is. */
    secret: p.text(),
    hint: p.text(),
    nextSecret: nullable.string(),
    nextHint: nullable.string(),
    /** When the next secret replaces the current one. */
    nextFrom: nullable.instant(),
    /** Failed rounds since the last success, when the first of them was, and until when the receiver is not tried. */
    failures: p.integer().onCreate(() => 0),
    failingSince: nullable.instant(),
    pausedUntil: nullable.instant(),
    /** Null unless paused. Events up to this one have deliveries; later ones get theirs as room becomes free. */
    backlogAfter: nullable.string(),
    backlogSince: nullable.instant(),
    /** The events that it wanted before it was changed while paused, oldest first. */
    backlogWanted: p.json<readonly WantedEvents[]>().onCreate(() => []),
    deletedAt: nullable.instant(),
  },
})

export class Webhook extends schema.class {
  /** Forgets how its receiver has failed. */
  clearFailures(): void {
    Object.assign(this, { failures: 0, failingSince: null, pausedUntil: null })
  }
}
schema.setClass(Webhook)

/** Binds a sealed secret to its subscription: it cannot be opened for another record. */
export const sealContext = (webhookId: string): string => `webhook-secret:${webhookId}`
