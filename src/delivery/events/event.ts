import { defineEntity, p } from '@mikro-orm/core'
import { nullable, tenantTable, timestamp } from '../../kernel/database/entity.ts'

/** The table of events for reading: only the kernel's journal writes it. */
const schema = defineEntity({
  ...tenantTable('Event', 'events', 'agentId'),
  readonly: true,
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    agentId: nullable.string(),
    event: p.text(),
    data: p.json<Record<string, unknown>>(),
    requestId: p.text(),
    runId: nullable.string(),
    createdAt: timestamp(),
  },
})

export class Event extends schema.class {}
schema.setClass(Event)
