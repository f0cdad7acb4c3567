import { defineEntity, p } from '@mikro-orm/core'
import type { CallerType } from '../../kernel/contract/actor.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'

export const accessWays = ['access', 'session', 'credential', 'agent_credential', 'mpp'] as const
export type AccessWay = (typeof accessWays)[number]

export interface AccessReason {
  readonly code: string
  readonly message: string
}

const event = defineEntity({
  ...tenantTable('AccessEvent', 'access_events', 'agentId', 'delegationId'),
  ...personalTable({ about: { person: ['actor_id'] } }),
  properties: {
    ...recordColumns('accessevent'),
    /** The agent of the card; null if another agent asked, since that agent must not learn of the card. */
    agentId: nullable.string(),
    delegationId: nullable.string(),
    actorType: plain(p.text().$type<CallerType>()),
    actorId: personal(nullable.string(), 'name', 'security', 'word'),
    cardId: nullable.string(),
    intentId: nullable.string(),
    purpose: personal(nullable.string(), 'words', 'security', 'word'),
    way: plain(p.enum(accessWays)),
    sourceId: plain(nullable.string()),
    decision: plain(p.enum(['granted', 'denied'] as const)),
    reasons: plain(p.json<AccessReason[]>()),
    merchantHost: personal(nullable.string(), 'payment', 'security', 'word'),
    keyThumbprint: plain(nullable.string()),
    address: personal(nullable.string(), 'network', 'security', 'word'),
    requestId: p.text(),
  },
})

export class AccessEvent extends event.class {}
event.setClass(AccessEvent)

const outcome = defineEntity({
  ...tenantTable('AccessOutcome', 'access_outcomes'),
  properties: {
    ...recordColumns('accessevent'),
    outcome: plain(p.enum(['disclosed', 'failed'] as const)),
    code: plain(nullable.string()),
    message: personal(nullable.string(), 'words', 'security', 'word'),
  },
})

export class AccessOutcome extends outcome.class {}
outcome.setClass(AccessOutcome)
