import { defineEntity, p } from '@mikro-orm/core'
import { tenantTable } from '../../kernel/record.ts'
import type { Scope } from '../../kernel/scopes.ts'
import { credential } from '../../kernel/secrets.ts'

const schema = defineEntity({
  ...tenantTable('AgentToken', 'agent_tokens', 'agentId'),
  properties: {
    ...credential('token'),
    agentId: p.text(),
    label: p.text(),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
  },
})

export class AgentToken extends schema.class {}
schema.setClass(AgentToken)
