import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { type Euros, formatEuros } from '../../../values/money.ts'

/** How much an owner may pay by SEPA, in cents. */
export interface Limits {
  readonly single: Euros
  readonly daily: Euros
}

/** The limits of each plan, for owners who have none of their own. */
const limitsByPlan: Readonly<Record<string, Limits>> = {
  free: { single: 1_000_00n, daily: 2_000_00n },
  starter: { single: 10_000_00n, daily: 25_000_00n },
  business: { single: 50_000_00n, daily: 250_000_00n },
  enterprise: { single: 1_000_000_00n, daily: 10_000_000_00n },
}

/** The limits of each plan, for one transfer and for a day, as the documentation says them. */
export const plansInWords = Object.entries(limitsByPlan)
  .map(([plan, { single, daily }]) => `${plan} ${formatEuros(single)} and ${formatEuros(daily)}`)
  .join('; ')

const LIMITS = `
select c.plan, l.single_cents as single, l.daily_cents as daily
from customers c left join transfer_limits l on (l.owner_id, l.mode) = (c.id, $2) where c.id = $1`

type StoredLimits = Row & { plan: string; single: Euros | null; daily: Euros | null }

/** The limits of an owner; undefined if there is no such owner. */
export async function limitsOf(sql: Sql, { ownerId, mode }: Tenant): Promise<Limits | undefined> {
  const [stored] = await sql<StoredLimits>(LIMITS, [ownerId, mode])
  if (!stored) return undefined
  const ofPlan = limitsByPlan[stored.plan] as Limits
  return { single: stored.single ?? ofPlan.single, daily: stored.daily ?? ofPlan.daily }
}

const SET = `
insert into transfer_limits (owner_id, mode, single_cents, daily_cents, updated_at) values ($1, $2, $3, $4, $5)
on conflict (owner_id, mode) do update
  set single_cents = excluded.single_cents, daily_cents = excluded.daily_cents, updated_at = excluded.updated_at`

/** Sets the limits of an owner; null = that of the plan. */
export async function setLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { single, daily }: { readonly [Name in keyof Limits]: Euros | null },
  now: Date,
): Promise<void> {
  await sql(SET, [ownerId, mode, single, daily, now])
}

const USED = 'select used_cents as used from transfer_days where owner_id = $1 and mode = $2 and day = $3'

export async function usedOn(sql: Sql, { ownerId, mode }: Tenant, day: string): Promise<Euros> {
  return (await sql<{ used: Euros }>(USED, [ownerId, mode, day]))[0]?.used ?? 0n
}

const LOCK_DAY = `
insert into transfer_days as stored (owner_id, mode, day, used_cents) values ($1, $2, $3, 0)
on conflict (owner_id, mode, day) do update set used_cents = stored.used_cents returning used_cents as used`

/** Locks a day and gives what is used of its limit. The accounts are locked before: see `load` in `pay.ts`. */
export async function lockDay(sql: Sql, { ownerId, mode }: Tenant, day: string): Promise<Euros> {
  return (await sql<{ used: Euros }>(LOCK_DAY, [ownerId, mode, day]))[0]?.used ?? 0n
}

const ADD = `
update transfer_days set used_cents = used_cents + $4 where owner_id = $1 and mode = $2 and day = $3`

/** Uses this much of a locked day's limit; a negative amount gives it back. */
export async function addToDay(
  sql: Sql,
  { ownerId, mode }: Tenant,
  day: string,
  amount: Euros,
): Promise<void> {
  await sql(ADD, [ownerId, mode, day, amount])
}

/** The refusal of a payment above a limit, as code and message; undefined if it is within both. */
export function limitExceeded(
  { single, daily }: Limits,
  used: Euros,
  amount: Euros,
): ['single_limit_exceeded' | 'daily_limit_exceeded', string] | undefined {
  if (amount > single)
    return [
      'single_limit_exceeded',
      `The limit of ${formatEuros(single)} for one transfer is exceeded: ${formatEuros(amount)} are asked for.`,
    ]
  if (used + amount <= daily) return undefined
  const figures = `${formatEuros(used)} used, ${formatEuros(used < daily ? daily - used : 0n)} left`
  return ['daily_limit_exceeded', `The daily limit of ${formatEuros(daily)} is reached: ${figures}.`]
}
