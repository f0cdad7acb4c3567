import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { type Euros, formatEuros } from '../../../values/money.ts'

/** How much may leave an owner's wallets by SEPA. */
export interface Limits {
  readonly single: Euros
  readonly daily: Euros
}

/** By the customer's plan, in cents, where nothing else is set for the owner. */
const byPlan: Readonly<Record<string, Limits>> = {
  free: { single: 1_000_00n, daily: 2_000_00n },
  starter: { single: 10_000_00n, daily: 25_000_00n },
  business: { single: 50_000_00n, daily: 250_000_00n },
  enterprise: { single: 1_000_000_00n, daily: 10_000_000_00n },
}

/** What each plan allows, for one transfer and for a day. */
export const plansInWords = Object.entries(byPlan)
  .map(([plan, { single, daily }]) => `${plan} ${formatEuros(single)} and ${formatEuros(daily)}`)
  .join('; ')

/** A day of UTC by the tenant's clock. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10)

const LIMITS = `
select c.plan, l.single_cents as single, l.daily_cents as daily
from customers c left join transfer_limits l on (l.owner_id, l.mode) = (c.id, $2) where c.id = $1`

type Chosen = Row & { plan: string; single: Euros | null; daily: Euros | null }

/** Undefined where there is no such owner. */
export async function limitsOf(sql: Sql, { ownerId, mode }: Tenant): Promise<Limits | undefined> {
  const [chosen] = await sql<Chosen>(LIMITS, [ownerId, mode])
  if (!chosen) return undefined
  const ofPlan = byPlan[chosen.plan] as Limits
  return { single: chosen.single ?? ofPlan.single, daily: chosen.daily ?? ofPlan.daily }
}

const SET = `
insert into transfer_limits (owner_id, mode, single_cents, daily_cents, updated_at) values ($1, $2, $3, $4, $5)
on conflict (owner_id, mode) do update
  set single_cents = excluded.single_cents, daily_cents = excluded.daily_cents, updated_at = excluded.updated_at`

/** Null: what the plan says. */
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

const TAKE = `
insert into transfer_days as kept (owner_id, mode, day, used_cents) values ($1, $2, $3, 0)
on conflict (owner_id, mode, day) do update set used_cents = kept.used_cents returning used_cents as used`

/** What is used of a day, locked until the transaction ends, after the accounts: see `load` of `pay.ts`. */
export async function lockDay(sql: Sql, { ownerId, mode }: Tenant, day: string): Promise<Euros> {
  return (await sql<{ used: Euros }>(TAKE, [ownerId, mode, day]))[0]?.used ?? 0n
}

const ADD = `
update transfer_days set used_cents = used_cents + $4 where owner_id = $1 and mode = $2 and day = $3`

/** Takes so much of a day that is locked; less than nothing gives it back. */
export async function takeOfDay(
  sql: Sql,
  { ownerId, mode }: Tenant,
  day: string,
  amount: Euros,
): Promise<void> {
  await sql(ADD, [ownerId, mode, day, amount])
}

/** The code and the words for a payment above a limit; undefined where it is within both. */
export function excess(
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
