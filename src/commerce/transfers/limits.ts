import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { utcDay } from '../../values/clock.ts'
import {
  addCents,
  type Cents,
  cents,
  formatMoney,
  NO_CENTS,
  remainderOf,
  subtractCents,
  sumOf,
} from '../../values/money.ts'

export interface TransferLimits {
  readonly single: Cents
  readonly daily: Cents
}

const limitsByPlan: Readonly<Record<string, TransferLimits>> = {
  free: { single: cents(1_000_00n), daily: cents(2_000_00n) },
  starter: { single: cents(10_000_00n), daily: cents(25_000_00n) },
  business: { single: cents(50_000_00n), daily: cents(250_000_00n) },
  enterprise: { single: cents(1_000_000_00n), daily: cents(10_000_000_00n) },
}

export const planTransferLimitsText = Object.entries(limitsByPlan)
  .map(([plan, { single, daily }]) => `${plan} ${formatMoney(single)} and ${formatMoney(daily)}`)
  .join('; ')

const LIMITS = `
select c.plan, l.single_cents as single, l.daily_cents as daily
from customers c left join transfer_limits l on (l.owner_id, l.mode) = (c.id, $2) where c.id = $1`

type StoredLimits = Row & { plan: string; single: Cents | null; daily: Cents | null }

export async function readTransferLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
): Promise<TransferLimits | undefined> {
  const [stored] = await sql<StoredLimits>(LIMITS, [ownerId, mode])
  if (!stored) return undefined
  const ofPlan = limitsByPlan[stored.plan] as TransferLimits
  return { single: stored.single ?? ofPlan.single, daily: stored.daily ?? ofPlan.daily }
}

const SET = `
insert into transfer_limits (owner_id, mode, single_cents, daily_cents, updated_at) values ($1, $2, $3, $4, $5)
on conflict (owner_id, mode) do update
  set single_cents = excluded.single_cents, daily_cents = excluded.daily_cents, updated_at = excluded.updated_at`

export async function setTransferLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { single, daily }: { readonly [Name in keyof TransferLimits]: Cents | null },
  now: Date,
): Promise<void> {
  await sql(SET, [ownerId, mode, single, daily, now])
}

const USED = 'select used_cents as used from transfer_days where owner_id = $1 and mode = $2 and day = $3'

export async function transferredOnDay(sql: Sql, { ownerId, mode }: Tenant, day: string): Promise<Cents> {
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

export class TransferDayTotals {
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
    if (day) this.#added.set(day, addCents(this.addedTo(day), amountCents))
  }

  giveBack({ countedOn: day, amountCents }: Counted): void {
    if (day) this.#added.set(day, subtractCents(this.addedTo(day), amountCents))
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
export async function lockTransferDays(
  sql: Sql,
  tenant: Tenant,
  transfers: readonly Pick<Counted, 'countedOn'>[],
): Promise<TransferDayTotals> {
  const days = [...new Set(transfers.flatMap(({ countedOn }) => countedOn ?? []))].sort()
  await Promise.all(days.map(day => lockDay(sql, tenant, day)))
  return new TransferDayTotals(tenant, days)
}

export interface TodaysTransferLimit {
  readonly day: string
  readonly limits: TransferLimits
  readonly used: Cents
  readonly days: TransferDayTotals
}

export async function lockTodaysTransferLimit(
  sql: Sql,
  { tenant, now }: TenantNow,
): Promise<TodaysTransferLimit> {
  const day = utcDay(now)
  const [limits, used] = await Promise.all([readTransferLimits(sql, tenant), lockDay(sql, tenant, day)])
  if (!limits) throw new Error(`${tenant.ownerId}: a tenant without a customer`)
  return { day, limits, used, days: new TransferDayTotals(tenant, [day]) }
}

/** The code and message of a refusal; undefined if the payment is within both limits. `more` is paid in addition. */
export function transferLimitExceeded(
  { day, limits: { single, daily }, days, ...before }: TodaysTransferLimit,
  amount: Cents,
  more: Cents = NO_CENTS,
): ['single_limit_exceeded' | 'daily_limit_exceeded', string] | undefined {
  const used = sumOf([before.used, days.addedTo(day), more])
  if (amount > single)
    return [
      'single_limit_exceeded',
      `The amount of ${formatMoney(amount)} exceeds the limit of ${formatMoney(single)} for one transfer.`,
    ]
  if (used + amount <= daily) return undefined
  const figures = `${formatMoney(used)} used, ${formatMoney(remainderOf(daily, used))} left`
  return ['daily_limit_exceeded', `The daily limit of ${formatMoney(daily)} is reached: ${figures}.`]
}
