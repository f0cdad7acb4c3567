import { defineEntity, p } from '@mikro-orm/core'
import type { Context } from '../../kernel/contract/context.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { credential } from '../../kernel/database/credential.ts'
import { nullable, tenantTable } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { first } from '../../values/collections.ts'
import type { Euros } from '../../values/money.ts'
import type { Personal } from '../../values/personal.ts'
import { readBudgetUse } from '../agents/index.ts'
import { readPaidByTokens } from './limits.ts'

const schema = defineEntity({
  ...tenantTable('AgentToken', 'agent_tokens', 'agentId', 'delegationId'),
  properties: {
    ...credential('token'),
    agentId: p.text(),
    label: p.text(),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    maxAmountEuros: nullable.euros('max_amount_cents'),
    /** Thumbprint of the DPoP key that must sign a proof for each request, if there is one. */
    boundTo: nullable.string(),
    delegationId: nullable.string(),
  },
})

export class AgentToken extends schema.class {}
schema.setClass(AgentToken)

export const agentTokensPersonal = {
  agent_tokens: {
    personal: {
      label: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['hint', 'scopes', 'bound_to'],
    secret: ['hash'],
  },
} as const satisfies Personal

type ReadContext = Pick<Context, 'sql' | 'tenant'>

const isValid = ({ revokedAt, expiresAt }: AgentToken): boolean =>
  !revokedAt && (!expiresAt || expiresAt > clock.real())

const withoutBudget = { heldEuros: null, spentEuros: null, remainingEuros: null }

/** Adds what is held, spent and left of each token's budget; null without a budget, as nothing is counted then. */
export async function tokenResponses(tokens: readonly AgentToken[], { sql, tenant }: ReadContext) {
  const budgeted = tokens.filter(({ maxAmountEuros }) => maxAmountEuros !== null).map(({ id }) => id)
  const useOf = await readBudgetUse(sql, tenant, budgeted)
  const paidOf = await readPaidByTokens(sql, tenant, budgeted)
  const budgetOf = (token: AgentToken, maxEuros: Euros) => {
    const declared = useOf(token.id)
    const paid = paidOf(token.id)
    const heldEuros = declared.heldEuros + paid.heldEuros
    const spentEuros = declared.spentEuros + paid.spentEuros
    return { heldEuros, spentEuros, remainingEuros: isValid(token) ? maxEuros - heldEuros - spentEuros : 0n }
  }
  return tokens.map(token => {
    const { maxAmountEuros } = token
    return Object.assign(token, maxAmountEuros === null ? withoutBudget : budgetOf(token, maxAmountEuros))
  })
}

export async function tokenResponse(token: AgentToken, context: ReadContext) {
  return first(await tokenResponses([token], context))
}
