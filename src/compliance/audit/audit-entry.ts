import { defineEntity, p } from '@mikro-orm/core'
import { nullable, tenantTable, timestamp } from '../../kernel/database/entity.ts'

/** The table of audit entries for reading: only the kernel's journal writes it. */
const schema = defineEntity({
  ...tenantTable('AuditEntry', 'audit_entries'),
  readonly: true,
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    actorType: p.text(),
    actorId: nullable.string(),
    action: p.text(),
    event: p.text(),
    outcome: p.text(),
    resourceId: p.text(),
    agentId: nullable.string(),
    requestId: p.text(),
    runId: nullable.string(),
    address: nullable.string(),
    at: timestamp(),
  },
})

export class AuditEntry extends schema.class {}
schema.setClass(AuditEntry)
