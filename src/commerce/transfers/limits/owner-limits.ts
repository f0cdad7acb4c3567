import type { Tenant } from '../../../kernel/contract/actor.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { offsetOf } from '../../../kernel/database/tenant-clock.ts'
import { clock, dayOf } from '../../../values/clock.ts'
import { type Limits, limitsOf, setLimits, usedOn } from './limits.ts'
import { limitsApi } from './limits-api.ts'

/** Reads the tenant's clock anew: the one of the request may be a moment old, and a new day may have begun. */
async function limitsResponse({ single, daily }: Limits, tenant: Tenant, sql: Sql) {
  const day = dayOf(clock.tenant(await offsetOf(sql, tenant)))
  const used = await usedOn(sql, tenant, day)
  return {
    ...tenant,
    singleEuros: single,
    dailyEuros: daily,
    day,
    usedEuros: used,
    remainingEuros: used < daily ? daily - used : 0n,
  }
}

export const ownerLimits = implement(limitsApi, {
  async limits(_, { sql, tenant: { ownerId, mode } }) {
    const limits = await limitsOf(sql, { ownerId, mode })
    if (!limits) throw new Error('a key without a customer')
    return limitsResponse(limits, { ownerId, mode }, sql)
  },

  async setLimits({ params, body }, { sql, now, actFor, emit, refuse }) {
    const tenant = { ownerId: params.id, mode: body.mode }
    if (!(await limitsOf(sql, tenant))) return refuse('customer_not_found')
    actFor(tenant)
    await setLimits(sql, tenant, { single: body.singleEuros, daily: body.dailyEuros }, now)
    const limits = (await limitsOf(sql, tenant)) as Limits
    emit('transfer.limits_changed', { ...tenant, singleEuros: limits.single, dailyEuros: limits.daily })
    return limitsResponse(limits, tenant, sql)
  },
})
