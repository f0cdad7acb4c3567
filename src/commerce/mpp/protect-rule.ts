import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

export const ruleTypes = ['allow', 'deny'] as const
export type RuleType = (typeof ruleTypes)[number]

const schema = defineEntity({
  ...tenantTable('ProtectRule', 'mpp_protect_rules'),
  properties: {
    ...record('protectrule'),
    type: p.enum(ruleTypes),
    /** As its owner wrote it. */
    merchant: p.text(),
    /** How addresses are compared with it: `shop.example.com`, `*.example.com` or `https://shop.example.com:8443`. */
    pattern: p.text(),
    /** Null = every agent. */
    agentId: nullable.string(),
    reason: nullable.string(),
  },
})

/** Which merchants machine payments may go to, or must not. */
export class ProtectRule extends schema.class {}
schema.setClass(ProtectRule)

/** Each payment reads all of them. */
export const MOST_RULES = 1_000
