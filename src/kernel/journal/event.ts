import { defineEntity, p } from '@mikro-orm/core'
import { nullable, tenantTable, timestampColumn } from '../database/entity.ts'

/** Read only: `writeJournal` alone writes events. Each is an entry of the audit trail, too. */
const schema = defineEntity({
  ...tenantTable('Event', 'events', 'agentId'),
  readonly: true,
  properties: {
    id: p.text().primary(),
    ownerId: p.text().primary(),
    mode: p.enum(['test', 'live'] as const).primary(),
    agentId: nullable.string(),
    event: p.text(),
    data: p.json<Record<string, unknown>>(),
    requestId: p.text(),
    runId: nullable.string(),
    createdAt: timestampColumn(),
    actorType: p.text(),
    actorId: nullable.string(),
    action: p.text(),
    outcome: p.text(),
    resourceId: p.text(),
    address: nullable.string(),
    at: timestampColumn().name('recorded_at'),
    auditId: nullable.string(),
  },
})

export class Event extends schema.class {}
schema.setClass(Event)
