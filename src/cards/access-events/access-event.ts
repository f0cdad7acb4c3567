import { defineEntity, p } from '@mikro-orm/core'
import type { CallerType } from '../../kernel/contract/actor.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { PersonalData } from '../../values/personal.ts'

export const accessWays = ['access', 'session', 'credential', 'agent_credential', 'mpp'] as const
export type AccessWay = (typeof accessWays)[number]

export interface AccessReason {
  readonly code: string
  readonly message: string
}

const event = defineEntity({
  ...tenantTable('AccessEvent', 'access_events', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('accessevent'),
    /** The agent of the card; null if another agent asked, since that agent must not learn of the card. */
    agentId: nullable.string(),
    delegationId: nullable.string(),
    actorType: p.text().$type<CallerType>(),
    actorId: nullable.string(),
    cardId: nullable.string(),
    intentId: nullable.string(),
    purpose: nullable.string(),
    way: p.enum(accessWays),
    sourceId: nullable.string(),
    decision: p.enum(['granted', 'denied'] as const),
    reasons: p.json<AccessReason[]>(),
    merchantHost: nullable.string(),
    keyThumbprint: nullable.string(),
    address: nullable.string(),
    requestId: p.text(),
  },
})

export class AccessEvent extends event.class {}
event.setClass(AccessEvent)

const outcome = defineEntity({
  ...tenantTable('AccessOutcome', 'access_outcomes'),
  properties: {
    ...recordColumns('accessevent'),
    outcome: p.enum(['disclosed', 'failed'] as const),
    code: nullable.string(),
    message: nullable.string(),
  },
})

export class AccessOutcome extends outcome.class {}
outcome.setClass(AccessOutcome)

export const accessEventsPersonalData = {
  access_events: {
    personal: {
      merchant_host: { kind: 'payment', ground: 'security', forget: 'word' },
      purpose: { kind: 'words', ground: 'security', forget: 'word' },
      address: { kind: 'network', ground: 'security', forget: 'word' },
      actor_id: { kind: 'name', ground: 'security', forget: 'word' },
    },
    plain: ['actor_type', 'way', 'source_id', 'decision', 'reasons', 'key_thumbprint'],
    about: { person: ['actor_id'] },
  },
  access_outcomes: {
    personal: {
      message: { kind: 'words', ground: 'security', forget: 'word' },
    },
    plain: ['outcome', 'code'],
  },
} as const satisfies PersonalData
