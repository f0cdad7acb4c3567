import { defineEntity, p } from '@mikro-orm/core'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { nullable, tenantTable, timestampColumn } from '../database/entity.ts'

/** Read only: `writeJournal` alone writes events. Each is an entry of the audit trail, too. */
const schema = defineEntity({
  ...tenantTable('Event', 'events', 'agentId'),
  readonly: true,
  ...personalTable({
    plain: ['traceparent'],
    about: {
      person: ['resource_id', 'actor_id', "data ->> 'personId'"],
      beneficiary: ['resource_id', "data ->> 'beneficiaryId'"],
      payer: ['resource_id', "data ->> 'requestId'"],
      merchant: ['resource_id', "data ->> 'merchantId'"],
    },
  }),
  properties: {
    id: p.text().primary(),
    ownerId: p.text().primary(),
    mode: p.enum(['test', 'live'] as const).primary(),
    agentId: nullable.string(),
    event: plain(p.text()),
    data: personal(p.json<Record<string, unknown>>(), 'payment', 'contract', 'committed'),
    requestId: p.text(),
    runId: nullable.string(),
    createdAt: timestampColumn(),
    actorType: plain(p.text()),
    actorId: personal(nullable.string(), 'name', 'contract', 'committed'),
    action: plain(p.text()),
    outcome: plain(p.text()),
    resourceId: plain(p.text()),
    address: personal(nullable.string(), 'network', 'security', 'committed'),
    at: timestampColumn().name('recorded_at'),
    auditId: plain(nullable.string()),
  },
})

export class Event extends schema.class {}
schema.setClass(Event)
