import { defineEntity } from '@mikro-orm/core'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { addCents, type Cents } from '../../values/money.ts'
import { limitWidening, remainingLimit } from '../rules/index.ts'
import { budgetApi } from './api.ts'
import type { BudgetCounter } from './counter.ts'
import { readCounters } from './open-counters.ts'

const schema = defineEntity({
  ...tenantTable('OwnerBudget', 'owner_budgets'),
  properties: {
    ...recordColumns('budget'),
    dailyLimitCents: nullable.cents('daily_limit_cents'),
    monthlyLimitCents: nullable.cents('monthly_limit_cents'),
  },
})

export class OwnerBudget extends schema.class {}
schema.setClass(OwnerBudget)

const LOCK_COUNTERS = 'select counters_hold($1, $2)'

/**
 * Adds up the counters of all agents for the owner, for every past day and month, since an old reservation
 * may still be released to its day. The range of ids selects agents and omits runs and other subjects.
 */
const SUM_AGENTS = `
insert into counters (owner_id, mode, subject, period, reserved_cents, spent_cents)
select $1, $2, $1, k.period, sum(k.reserved_cents), sum(k.spent_cents) from counters k
where k.owner_id = $1 and k.mode = $2 and k.subject between 'agent_' and 'agent_~'
group by k.period
on conflict (owner_id, mode, subject, period) do update
  set reserved_cents = excluded.reserved_cents, spent_cents = excluded.spent_cents`

interface Limits {
  readonly dailyLimitCents: Cents | null
  readonly monthlyLimitCents: Cents | null
  readonly updatedAt: Date
}

const budgetUse = ({ reserved: heldCents, spent: spentCents, limit }: BudgetCounter) => ({
  heldCents,
  spentCents,
  remainingCents: limit === null ? null : remainingLimit({ limit, used: addCents(heldCents, spentCents) }),
})

const wideningsOfBudget = (
  before: Pick<Limits, 'dailyLimitCents' | 'monthlyLimitCents'> | null,
  after: Pick<Limits, 'dailyLimitCents' | 'monthlyLimitCents'>,
  { ownerId }: Tenant,
): StatedWidening[] =>
  [
    ...limitWidening('Budget a day', before?.dailyLimitCents ?? null, after.dailyLimitCents),
    ...limitWidening('Budget a month', before?.monthlyLimitCents ?? null, after.monthlyLimitCents),
  ].map(change => ({ of: 'account', id: ownerId, name: null, ...change }))

const unlimited = { dailyLimitCents: null, monthlyLimitCents: null, day: null, month: null, updatedAt: null }

async function budgetResponse(budget: Limits | null, { sql, tenant, now }: ReadContext) {
  const counters = budget && (await readCounters(sql, { tenant, now }, [])).ownerCounters()
  if (!budget || !counters) return unlimited
  const { dailyLimitCents, monthlyLimitCents, updatedAt } = budget
  return {
    dailyLimitCents,
    monthlyLimitCents,
    day: budgetUse(counters.day),
    month: budgetUse(counters.month),
    updatedAt,
  }
}

export const ownerBudgetHandlers = bindHandlers(budgetApi, {
  budget: async (_, context) => budgetResponse(await context.em.findOne(OwnerBudget, {}), context),

  async setBudget({ body: { webauthnAssertion, ...body } }, context) {
    const { em, sql, tenant, emit } = context
    const tenantKey = [tenant.ownerId, tenant.mode]
    await sql(LOCK_COUNTERS, tenantKey)
    const stored = await em.findOne(OwnerBudget, {})
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => wideningsOfBudget(stored, body, tenant),
      context,
    )
    if (unsigned) return unsigned
    const isLimited = body.dailyLimitCents !== null || body.monthlyLimitCents !== null
    if (stored && !isLimited) em.remove(stored)
    const budget = isLimited ? (stored ?? em.create(OwnerBudget, body)) : null
    if (budget) Object.assign(budget, body)
    await em.flush()
    if (budget) await sql(SUM_AGENTS, tenantKey)
    emit('budget.updated', { ownerId: tenant.ownerId, ...body })
    return budgetResponse(budget, context)
  },
})
