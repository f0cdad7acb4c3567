import { defineEntity, p } from '@mikro-orm/core'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { credential } from '../../kernel/database/credential.ts'
import { nullable, tenantTable } from '../../kernel/database/entity.ts'

const schema = defineEntity({
  ...tenantTable('AgentToken', 'agent_tokens', 'agentId', 'delegationId'),
  properties: {
    ...credential('token'),
    agentId: p.text(),
    label: p.text(),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    maxAmountEuros: nullable.euros('max_amount_cents'),
    /** The thumbprint of the key that signs a proof for each request, if one must. */
    boundTo: nullable.string(),
    /** The delegation whose code was redeemed for the token. */
    delegationId: nullable.string(),
  },
})

export class AgentToken extends schema.class {}
schema.setClass(AgentToken)
