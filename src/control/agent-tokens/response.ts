import type { Context } from '../../kernel/contract/context.ts'
import { clock } from '../../values/clock.ts'
import type { Euros } from '../../values/money.ts'
import { usesOf } from '../agents/index.ts'
import type { AgentToken } from './agent-token.ts'
import { paidWith } from './limits.ts'

/** Tokens are of real time, as all credentials. */
const isOpen = ({ revokedAt, expiresAt }: AgentToken): boolean =>
  !revokedAt && (!expiresAt || expiresAt > clock.real())

const unlimited = { heldEuros: null, spentEuros: null, remainingEuros: null }

/** The tokens with what is left of their budgets, read in one statement; of those without one nothing is counted. */
export async function withUses(
  tokens: readonly AgentToken[],
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
) {
  const limited = tokens.filter(({ maxAmountEuros }) => maxAmountEuros !== null)
  const uses = await usesOf(
    sql,
    tenant,
    limited.map(({ id }) => id),
  )
  const paid = await paidWith(
    sql,
    tenant,
    limited.map(({ id }) => id),
  )
  const useOf = (token: AgentToken, most: Euros) => {
    const [declared, others] = [uses(token.id), paid(token.id)]
    const heldEuros = declared.heldEuros + others.heldEuros
    const spentEuros = declared.spentEuros + others.spentEuros
    return { heldEuros, spentEuros, remainingEuros: isOpen(token) ? most - heldEuros - spentEuros : 0n }
  }
  return tokens.map(token =>
    Object.assign(token, token.maxAmountEuros === null ? unlimited : useOf(token, token.maxAmountEuros)),
  )
}

export async function shown(token: AgentToken, context: Pick<Context, 'sql' | 'tenant'>) {
  const [record] = await withUses([token], context)
  return record as NonNullable<typeof record>
}
