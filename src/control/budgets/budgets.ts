import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { remainingOf } from '../rules/index.ts'
import { budgetApi } from './api.ts'
import type { Counter } from './counters.ts'
import { readTally } from './open-counters.ts'
import { OwnerBudget } from './owner-budget.ts'

const HOLD = 'select counters_hold($1, $2)'

/**
 * Of every day and month that there was: what was taken on a day long ago may still come back to it. Read by the range of
 * the agents' ids, of which what is counted for runs and the like is no part.
 */
const SUM = `
insert into counters (owner_id, mode, subject, period, reserved_cents, spent_cents)
select $1, $2, $1, k.period, sum(k.reserved_cents), sum(k.spent_cents) from counters k
where k.owner_id = $1 and k.mode = $2 and k.subject between 'agent_' and 'agent_~'
group by k.period
on conflict (owner_id, mode, subject, period) do update
  set reserved_cents = excluded.reserved_cents, spent_cents = excluded.spent_cents`

/** From here on the owner's counters go along with those of the agents, which nobody changes meanwhile. */
async function countAll(sql: Sql, { ownerId, mode }: Tenant): Promise<void> {
  await sql(SUM, [ownerId, mode])
}

type Reading = Pick<Context, 'sql' | 'tenant' | 'now'>

interface Limited {
  readonly dailyLimitEuros: Euros | null
  readonly monthlyLimitEuros: Euros | null
  readonly updatedAt: Date
}

const use = ({ reserved: heldEuros, spent: spentEuros, limit }: Counter) => ({
  heldEuros,
  spentEuros,
  remainingEuros: limit === null ? null : remainingOf({ limit, used: heldEuros + spentEuros }),
})

const unlimited = { dailyLimitEuros: null, monthlyLimitEuros: null, day: null, month: null, updatedAt: null }

async function shown(budget: Limited | null, { sql, tenant, now }: Reading) {
  const own = budget && (await readTally(sql, { tenant, now }, [])).owners()
  if (!budget || !own) return unlimited
  const { dailyLimitEuros, monthlyLimitEuros, updatedAt } = budget
  return { dailyLimitEuros, monthlyLimitEuros, day: use(own.day), month: use(own.month), updatedAt }
}

export const ownerBudgets = implement(budgetApi, {
  budget: async (_, context) => shown(await context.em.findOne(OwnerBudget, {}), context),

  async setBudget({ body }, context) {
    const { em, sql, tenant, emit } = context
    await sql(HOLD, [tenant.ownerId, tenant.mode])
    const known = await em.findOne(OwnerBudget, {})
    const isLimited = body.dailyLimitEuros !== null || body.monthlyLimitEuros !== null
    if (known && !isLimited) em.remove(known)
    const budget = isLimited ? (known ?? em.create(OwnerBudget, body)) : null
    if (budget) Object.assign(budget, body)
    await em.flush()
    if (budget) await countAll(sql, tenant)
    emit('budget.updated', { ownerId: tenant.ownerId, ...body })
    return shown(budget, context)
  },
})
