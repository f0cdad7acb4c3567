import type { Tenant } from '../../kernel/context.ts'
import type { Sql } from '../../kernel/database.ts'
import { type Cause, type Counter, dayOf, type Reservation, Tally } from './tally.ts'

interface Opening {
  readonly tenant: Tenant
  readonly now: Date
}

interface Wanted {
  /** Who may spend now. */
  readonly spending?: readonly string[]
  /** For what was reserved before, and whose it is. */
  readonly causes?: readonly Cause[]
  readonly agents?: readonly string[]
}

const OPEN = `
select subject, period, reserved_cents as reserved, spent_cents as spent, reserved_uses as "reservedUses", uses, term,
  last_spend_at as "lastSpendAt", first_merchant as "firstMerchant"
from counters_open($1, $2, $3, $4, $5, $6, $7)`

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
  { tenant, now }: Opening,
  { spending = [], causes = [], agents = [] }: Wanted,
): Promise<Tally> {
  const { ownerId, mode } = tenant
  const names = [causes.map(({ type }) => type), causes.map(({ id }) => id)]
  const [spenders, owners] = [[...new Set(spending)], [...new Set(agents)]]
  const counters = await sql<Counter>(OPEN, [ownerId, mode, spenders, dayOf(now), owners, ...names])
  const taken = causes.length === 0 ? [] : await sql<Reservation>(TAKEN, [ownerId, mode, ...names])
  return new Tally(tenant, now, counters, taken)
}

const READ = `
select $3::text as subject, p.period, coalesce(k.reserved_cents, 0)::bigint as reserved,
  coalesce(k.spent_cents, 0)::bigint as spent, coalesce(k.reserved_uses, 0) as "reservedUses",
  coalesce(k.uses, 0) as uses, k.term, k.last_spend_at as "lastSpendAt", k.first_merchant as "firstMerchant"
from unnest(periods_of($4::date)) as p (period)
left join counters k on (k.owner_id, k.mode, k.subject, k.period) = ($1, $2, $3, p.period)`

/** One subject's counters as they are at this moment, for who reserves nothing. */
export async function readTally(sql: Sql, { tenant, now }: Opening, subject: string): Promise<Tally> {
  const { ownerId, mode } = tenant
  return new Tally(tenant, now, await sql<Counter>(READ, [ownerId, mode, subject, dayOf(now)]), [])
}
