import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { PostingCause } from '../../money/ledger/index.ts'
import { utcDay } from '../../values/clock.ts'
import type { BudgetCounter, BudgetReservation } from './counter.ts'
import { BudgetCounters } from './counters.ts'

interface CountersToOpen {
  readonly spending?: readonly string[]
  readonly causes?: readonly PostingCause[]
  readonly agents?: readonly string[]
  readonly mandatesOf?: readonly string[]
}

const COUNTER = `reserved_cents as reserved, spent_cents as spent, reserved_uses as "reservedUses", uses, term,
  last_spend_at as "lastSpendAt", first_merchant as "firstMerchant"`

const OPEN = `
select subject, period, ${COUNTER}, limit_cents as "limit", mandate
from open_limits($1, $2, $3, $4, $5, $6, $7, $8) as opened, lateral (select (opened.counter).*) as k`

const RESERVATIONS = `
select r.cause_type as type, r.cause_id as id, r.subjects, r.day::text, r.term, r.amount_cents as amount,
  r.reserved_cents as reserved, r.spent_cents as spent, r.made
from unnest($3::text[], $4::text[]) as c (type, id)
cross join lateral (
  select * from reservations one
  where (one.owner_id, one.mode, one.cause_type, one.cause_id) = ($1, $2, c.type, c.id) limit 1) as r`

/**
 * Locks counters after the agents, and before the ledger's accounts. Reads reservations once the counters are
 * locked, since no reservation changes without its counters.
 */
export async function lockCounters(
  sql: Sql,
  { tenant, now }: TenantNow,
  { spending = [], causes = [], agents = [], mandatesOf = [] }: CountersToOpen,
): Promise<BudgetCounters> {
  const { ownerId, mode } = tenant
  const causeTypes = causes.map(({ type }) => type)
  const causeIds = causes.map(({ id }) => id)
  const [counters, reservations] = await Promise.all([
    sql<BudgetCounter>(OPEN, [
      ownerId,
      mode,
      [...new Set(spending)],
      utcDay(now),
      [...new Set(agents)],
      causeTypes,
      causeIds,
      [...new Set(mandatesOf)],
    ]),
    causes.length === 0 ? [] : sql<BudgetReservation>(RESERVATIONS, [ownerId, mode, causeTypes, causeIds]),
  ])
  return new BudgetCounters(tenant, now, counters, reservations)
}

const readStatement = (further: string): string => `
select subject, period, coalesce(reserved_cents, 0)::bigint as reserved, coalesce(spent_cents, 0)::bigint as spent,
  coalesce(reserved_uses, 0) as "reservedUses", coalesce(uses, 0) as uses, term, last_spend_at as "lastSpendAt",
  first_merchant as "firstMerchant", case when subject = $1 then (
    select budget_limit(b, period) from owner_budgets b where (b.owner_id, b.mode) = ($1, $2)) end as "limit",
  case when period = 'all' and starts_with(subject, 'mandate_') then mandate_terms($1, $2, subject) end as mandate
from (
  select unnest($3::text[])
  ${further}
  union
  select b.owner_id from owner_budgets b where (b.owner_id, b.mode) = ($1, $2)
) as w (subject)
cross join unnest(periods_of($4::date)) as p (period)
left join lateral (
  select one.reserved_cents, one.spent_cents, one.reserved_uses, one.uses, one.term, one.last_spend_at, one.first_merchant
  from counters one
  where (one.owner_id, one.mode, one.subject, one.period) = ($1, $2, w.subject, p.period) limit 1
) as k on true`

/** Reads with the named subjects those that a query of another noun finds, by owner, mode and `$5`. */
export function countersReader(further = '') {
  const statement = readStatement(further && `union ${further}`)
  return async (
    sql: Sql,
    { tenant, now }: TenantNow,
    subjects: readonly string[],
    ...of: (readonly string[])[]
  ): Promise<BudgetCounters> => {
    const { ownerId, mode } = tenant
    const counters = await sql<BudgetCounter>(statement, [ownerId, mode, subjects, utcDay(now), ...of])
    return new BudgetCounters(tenant, now, counters, [])
  }
}

export const readCounters = countersReader()
