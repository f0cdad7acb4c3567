import type { z } from 'zod'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { requireFirst } from '../../values/collections.ts'
import { addCents, type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import { readBudgetUse } from '../budgets/index.ts'
import type { delegationRevokedEvent } from './api.ts'
import { type Delegation, isDelegationOpen } from './delegation.ts'

interface Cap extends Row {
  readonly id: string
  readonly maxAmountCents: Cents
}

const CAPS = `
select id, max_amount_cents as "maxAmountCents" from delegations
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** Adds the held, spent and remaining amounts of each. What remains is bounded by its own cap and by those above it. */
export async function delegationResponses(
  delegations: readonly Delegation[],
  { sql, tenant, now }: ReadContext,
) {
  const ancestors = [...new Set(delegations.flatMap(delegation => delegation.ancestors))]
  const [caps, useOf] = await Promise.all([
    ancestors.length === 0 ? [] : sql<Cap>(CAPS, [tenant.ownerId, tenant.mode, ancestors]),
    readBudgetUse(sql, tenant, [...ancestors, ...delegations.map(({ id }) => id)]),
  ])
  const leftOf = ({ id, maxAmountCents }: Pick<Cap, 'id' | 'maxAmountCents'>): Cents => {
    const { heldCents, spentCents } = useOf(id)
    return subtractCents(maxAmountCents, addCents(heldCents, spentCents))
  }
  return delegations.map(delegation => {
    const { heldCents, spentCents } = useOf(delegation.id)
    const capsAbove = caps.filter(({ id }) => delegation.ancestors.includes(id))
    const left = [delegation, ...capsAbove].map(leftOf)
    const remainingCents = isDelegationOpen(delegation, now) ? least(left) : NO_CENTS
    return Object.assign(delegation, { spentCents, heldCents, remainingCents })
  })
}

const least = (amounts: readonly Cents[]): Cents =>
  amounts.reduce((least, amount) => (amount < least ? amount : least))

export async function delegationResponse(delegation: Delegation, context: ReadContext) {
  return requireFirst(await delegationResponses([delegation], context))
}

export const delegationEvent = ({
  id,
  agentId,
  status,
  maxAmountCents,
  expiresAt,
}: Delegation): z.output<(typeof delegationRevokedEvent)['delegation.revoked']> => ({
  delegationId: id,
  agentId,
  status,
  maxAmountCents,
  expiresAt,
})
