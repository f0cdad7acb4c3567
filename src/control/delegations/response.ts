import type { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { usesOf } from '../agents/index.ts'
import type { DelegationRevoked } from './api.ts'
import { type Delegation, isOpen } from './delegation.ts'

type Reading = Pick<Context, 'sql' | 'tenant' | 'now'>

interface Cap extends Row {
  readonly id: string
  readonly maxAmountEuros: Euros
}

const CAPS = `
select id, max_amount_cents as "maxAmountEuros" from delegations
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** The delegations with what is left of their caps and of those above them, however many, in two statements. */
export async function withUses(delegations: readonly Delegation[], { sql, tenant, now }: Reading) {
  const above = [...new Set(delegations.flatMap(({ ancestors }) => ancestors))]
  const caps = above.length === 0 ? [] : await sql<Cap>(CAPS, [tenant.ownerId, tenant.mode, above])
  const uses = await usesOf(sql, tenant, [...above, ...delegations.map(({ id }) => id)])
  const leftOf = ({ id, maxAmountEuros }: Pick<Cap, 'id' | 'maxAmountEuros'>): Euros =>
    maxAmountEuros - uses(id).heldEuros - uses(id).spentEuros
  return delegations.map(delegation => {
    const { heldEuros, spentEuros } = uses(delegation.id)
    const left = [delegation, ...caps.filter(({ id }) => delegation.ancestors.includes(id))].map(leftOf)
    const remainingEuros = isOpen(delegation, now) ? least(left) : 0n
    return Object.assign(delegation, { spentEuros, heldEuros, remainingEuros })
  })
}

const least = (amounts: readonly Euros[]): Euros =>
  amounts.reduce((one, other) => (other < one ? other : one))

export async function shown(delegation: Delegation, context: Reading) {
  const [record] = await withUses([delegation], context)
  return record as NonNullable<typeof record>
}

/** What the world is told of a delegation. */
export const about = ({
  id,
  agentId,
  status,
  maxAmountEuros,
  expiresAt,
}: Delegation): z.output<(typeof DelegationRevoked)['delegation.revoked']> => ({
  delegationId: id,
  agentId,
  status,
  maxAmountEuros,
  expiresAt,
})
