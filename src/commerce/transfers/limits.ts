import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { dayOf } from '../../values/clock.ts'
import { type Cents, cents, formatMoney, minus, NO_CENTS, plus, restOf, sumOf } from '../../values/money.ts'

export interface Limits {
  readonly single: Cents
  readonly daily: Cents
}

const limitsByPlan: Readonly<Record<string, Limits>> = {
  free: { single: cents(1_000_00n), daily: cents(2_000_00n) },
  starter: { single: cents(10_000_00n), daily: cents(25_000_00n) },
  business: { single: cents(50_000_00n), daily: cents(250_000_00n) },
  enterprise: { single: cents(1_000_000_00n), daily: cents(10_000_000_00n) },
}

export const planLimitsText = Object.entries(limitsByPlan)
  .map(([plan, { single, daily }]) => `${plan} ${formatMoney(single)} and ${formatMoney(daily)}`)
  .join('; ')

const LIMITS = `
select c.plan, l.single_cents as single, l.daily_cents as daily
from customers c left join transfer_limits l on (l.owner_id, l.mode) = (c.id, $2) where c.id = $1`

type StoredLimits = Row & { plan: string; single: Cents | null; daily: Cents | null }

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

export async function setLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { single, daily }: { readonly [Name in keyof Limits]: Cents | null },
  now: Date,
): Promise<void> {
  await sql(SET, [ownerId, mode, single, daily, now])
}

const USED = 'select used_cents as used from transfer_days where owner_id = $1 and mode = $2 and day = $3'

export async function usedOn(sql: Sql, { ownerId, mode }: Tenant, day: string): Promise<Cents> {
  return (await sql<{ used: Cents }>(USED, [ownerId, mode, day]))[0]?.used ?? NO_CENTS
}

const LOCK_DAY = `
insert into transfer_days as stored (owner_id, mode, day, used_cents) values ($1, $2, $3, 0)
on conflict (owner_id, mode, day) do update set used_cents = stored.used_cents returning used_cents as used`

async function lockDay(sql: Sql, { ownerId, mode }: Tenant, day: string): Promise<Cents> {
  return (await sql<{ used: Cents }>(LOCK_DAY, [ownerId, mode, day]))[0]?.used ?? NO_CENTS
}

const ADD = `
update transfer_days set used_cents = used_cents + $4 where owner_id = $1 and mode = $2 and day = $3`

export class DayLimits {
  readonly #tenant: Tenant
  readonly #added: Map<string, Cents>

  constructor(tenant: Tenant, days: readonly string[]) {
    this.#tenant = tenant
    this.#added = new Map(days.map(day => [day, NO_CENTS]))
  }

  addedTo(day: string): Cents {
    return this.#added.get(day) ?? NO_CENTS
  }

  use({ countedOn: day, amountCents }: Counted): void {
    if (day) this.#added.set(day, plus(this.addedTo(day), amountCents))
  }

  giveBack({ countedOn: day, amountCents }: Counted): void {
    if (day) this.#added.set(day, minus(this.addedTo(day), amountCents))
  }

  async write(sql: Sql): Promise<void> {
    const { ownerId, mode } = this.#tenant
    const changed = [...this.#added].filter(([, added]) => added !== 0n)
    await Promise.all(changed.map(([day, added]) => sql(ADD, [ownerId, mode, day, added])))
  }
}

interface Counted {
  readonly countedOn: string | null
  readonly amountCents: Cents
}

/** Locks the days, the oldest first. The caller has locked the accounts: freezing a wallet locks its account first. */
export async function lockDays(
  sql: Sql,
  tenant: Tenant,
  transfers: readonly Pick<Counted, 'countedOn'>[],
): Promise<DayLimits> {
  const days = [...new Set(transfers.flatMap(({ countedOn }) => countedOn ?? []))].sort()
  await Promise.all(days.map(day => lockDay(sql, tenant, day)))
  return new DayLimits(tenant, days)
}

export interface TodaysLimit {
  readonly day: string
  readonly limits: Limits
  readonly used: Cents
  readonly days: DayLimits
}

export async function lockToday(sql: Sql, { tenant, now }: TenantNow): Promise<TodaysLimit> {
  const day = dayOf(now)
  const [limits, used] = await Promise.all([limitsOf(sql, tenant), lockDay(sql, tenant, day)])
  if (!limits) throw new Error(`${tenant.ownerId}: a tenant without a customer`)
  return { day, limits, used, days: new DayLimits(tenant, [day]) }
}

/** The code and message of a refusal; undefined if the payment is within both limits. `more` is paid in addition. */
export function limitExceeded(
  { day, limits: { single, daily }, days, ...before }: TodaysLimit,
  amount: Cents,
  more: Cents = NO_CENTS,
): ['single_limit_exceeded' | 'daily_limit_exceeded', string] | undefined {
  const used = sumOf([before.used, days.addedTo(day), more])
  if (amount > single)
    return [
      'single_limit_exceeded',
      `The limit of ${formatMoney(single)} for one transfer is exceeded: ${formatMoney(amount)} are asked for.`,
    ]
  if (used + amount <= daily) return undefined
  const figures = `${formatMoney(used)} used, ${formatMoney(restOf(daily, used))} left`
  return ['daily_limit_exceeded', `The daily limit of ${formatMoney(daily)} is reached: ${figures}.`]
}
