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
join reservations r on (r.owner_id, r.mode, r.cause_type, r.cause_id) = ($1, $2, c.type, c.id)`

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
