import type { Context } from '../../kernel/contract/context.ts'
import { clock } from '../../values/clock.ts'
import type { Euros } from '../../values/money.ts'
import { readBudgetUse } from '../agents/index.ts'
import type { AgentToken } from './agent-token.ts'
import { readPaidByTokens } from './limits.ts'

type ReadContext = Pick<Context, 'sql' | 'tenant'>

/** Whether the token works: by real time, as for all credentials, not by the tenant's clock. */
const isValid = ({ revokedAt, expiresAt }: AgentToken): boolean =>
  !revokedAt && (!expiresAt || expiresAt > clock.real())

const withoutBudget = { heldEuros: null, spentEuros: null, remainingEuros: null }

/** Adds to each token what is held, spent and left of its budget; null without a budget, as nothing is counted then. */
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
  const [record] = await tokenResponses([token], context)
  return record as NonNullable<typeof record>
}
