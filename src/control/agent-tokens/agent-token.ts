import { defineEntity, p } from '@mikro-orm/core'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { credential } from '../../kernel/database/credential.ts'
import { maybe, tenantTable } from '../../kernel/database/entity.ts'

const schema = defineEntity({
  ...tenantTable('AgentToken', 'agent_tokens', 'agentId', 'delegationId'),
  properties: {
    ...credential('token'),
    agentId: p.text(),
    label: p.text(),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    maxAmountEuros: maybe.euros('max_amount_cents'),
    /** The delegation whose code was redeemed for the token. */
    delegationId: maybe.string(),
  },
})

export class AgentToken extends schema.class {}
schema.setClass(AgentToken)
