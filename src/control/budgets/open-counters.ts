import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Cause, type Counter, dayOf, type Reservation, Tally } from './counters.ts'

interface Wanted {
  /** Who may spend now. */
  readonly spending?: readonly string[]
  /** For what was reserved before, and whose it is. */
  readonly causes?: readonly Cause[]
  readonly agents?: readonly string[]
}

const COUNTER = `reserved_cents as reserved, spent_cents as spent, reserved_uses as "reservedUses", uses, term,
  last_spend_at as "lastSpendAt", first_merchant as "firstMerchant"`

const OPEN = `
select subject, period, ${COUNTER}, limit_cents as "limit"
from open_counters($1, $2, $3, $4, $5, $6, $7) as opened, lateral (select (opened.counter).*) as k`

const TAKEN = `
select r.cause_type as type, r.cause_id as id, r.subjects, r.day::text, r.term, r.amount_cents as amount,
  r.reserved_cents as reserved, r.spent_cents as spent
from unnest($3::text[], $4::text[]) as c (type, id)
cross join lateral (
  select * from reservations one
  where (one.owner_id, one.mode, one.cause_type, one.cause_id) = ($1, $2, c.type, c.id) limit 1) as r`

/**
 * Locks the counters, after the agents and before the ledger's accounts. The reservations are read once they are
 * locked: nobody changes one without its counters.
 */
export async function openTally(
  sql: Sql,
  { tenant, now }: TenantNow,
  { spending = [], causes = [], agents = [] }: Wanted,
): Promise<Tally> {
  const { ownerId, mode } = tenant
  const names = [causes.map(({ type }) => type), causes.map(({ id }) => id)]
  const [spenders, owners] = [[...new Set(spending)], [...new Set(agents)]]
  const counters = await sql<Counter>(OPEN, [ownerId, mode, spenders, dayOf(now), owners, ...names])
  const taken = causes.length === 0 ? [] : await sql<Reservation>(TAKEN, [ownerId, mode, ...names])
  return new Tally(tenant, now, counters, taken)
}

/** Each by its whole key, which is what the lateral is for. */
const READ = `
select subject, period, coalesce(reserved_cents, 0)::bigint as reserved, coalesce(spent_cents, 0)::bigint as spent,
  coalesce(reserved_uses, 0) as "reservedUses", coalesce(uses, 0) as uses, term, last_spend_at as "lastSpendAt",
  first_merchant as "firstMerchant", case when subject = $1 then (
    select budget_limit(b, period) from owner_budgets b where (b.owner_id, b.mode) = ($1, $2)) end as "limit"
from (
  select unnest($3::text[])
  union
  select b.owner_id from owner_budgets b where (b.owner_id, b.mode) = ($1, $2)
) as w (subject)
cross join unnest(periods_of($4::date)) as p (period)
left join lateral (
  select one.reserved_cents, one.spent_cents, one.reserved_uses, one.uses, one.term, one.last_spend_at, one.first_merchant
  from counters one
  where (one.owner_id, one.mode, one.subject, one.period) = ($1, $2, w.subject, p.period) limit 1
) as k on true`

/** The counters of these subjects, and the owner's, as they are at this moment, for who reserves nothing. */
export async function readTally(
  sql: Sql,
  { tenant, now }: TenantNow,
  subjects: readonly string[],
): Promise<Tally> {
  const { ownerId, mode } = tenant
  const counters = await sql<Counter>(READ, [ownerId, mode, subjects, dayOf(now)])
  return new Tally(tenant, now, counters, [])
}
