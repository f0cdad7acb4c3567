import { defineEntity, p } from '@mikro-orm/core'
import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { credentialColumns } from '../../kernel/database/credential.ts'
import { nullable, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { clock } from '../../values/clock.ts'
import { requireFirst } from '../../values/collections.ts'
import { addCents, type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import { readBudgetUse } from '../budgets/index.ts'
import { readSpentByTokens } from './limits.ts'

const schema = defineEntity({
  ...tenantTable('AgentToken', 'agent_tokens', 'agentId', 'delegationId'),
  properties: {
    ...credentialColumns('token'),
    agentId: p.text(),
    label: personal(p.text(), 'words', 'contract', 'word'),
    scopes: plain(p.array().columnType('text[]').$type<Scope[]>()),
    maxAmountCents: nullable.cents('max_amount_cents'),
    /** Thumbprint of the DPoP key that must sign a proof for each request; null if the token has no such key. */
    boundTo: plain(nullable.string()),
    delegationId: nullable.string(),
    /** Who made it, in the console or with a key of their own. */
    personId: nullable.string(),
    /** The path of the only operation that accepts the token; null if every operation does. */
    onlyAt: plain(nullable.string()),
  },
})

export class AgentToken extends schema.class {}
schema.setClass(AgentToken)

const isValid = ({ revokedAt, expiresAt }: AgentToken): boolean =>
  !revokedAt && (!expiresAt || expiresAt > clock.real())

const withoutBudget = { heldCents: null, spentCents: null, remainingCents: null }

/**
 * Adds the held, spent and remaining amounts of each token's budget; null without a budget, as the amounts
 * are not counted then.
 */
export async function agentTokenResponses(tokens: readonly AgentToken[], context: ReadContext) {
  const budgeted = tokens.filter(({ maxAmountCents }) => maxAmountCents !== null).map(({ id }) => id)
  const useOf = await readBudgetUse(context.sql, context.tenant, budgeted)
  const paidOf = await readSpentByTokens(budgeted, context)
  const budgetOf = (token: AgentToken, maxCents: Cents) => {
    const declared = useOf(token.id)
    const paid = paidOf(token.id)
    const heldCents = addCents(declared.heldCents, paid.heldCents)
    const spentCents = addCents(declared.spentCents, paid.spentCents)
    return {
      heldCents,
      spentCents,
      remainingCents: isValid(token) ? subtractCents(maxCents, addCents(heldCents, spentCents)) : NO_CENTS,
    }
  }
  return tokens.map(token => {
    const { maxAmountCents } = token
    return Object.assign(token, maxAmountCents === null ? withoutBudget : budgetOf(token, maxAmountCents))
  })
}

export async function agentTokenResponse(token: AgentToken, context: ReadContext) {
  return requireFirst(await agentTokenResponses([token], context))
}

const LAST_USES = `
select id, last_used_at as "lastUsedAt" from agent_tokens where owner_id = $1 and mode = $2 and id = any($3::text[])`

export async function readTokenUses(
  ids: readonly string[],
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<ReadonlyMap<string, Date | null>> {
  const rows =
    ids.length === 0
      ? []
      : await sql<{ id: string; lastUsedAt: Date | null } & Row>(LAST_USES, [ownerId, mode, ids])
  return new Map(rows.map(({ id, lastUsedAt }) => [id, lastUsedAt]))
}
