import type { Mode } from '../../kernel/contract/actor.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { isRatesFailure, type ReferenceRates } from '../../ports/exchange-rates.ts'
import { addCalendarDays, bankDateOf } from '../../values/bank-calendar.ts'
import { clock } from '../../values/clock.ts'

/** In calendar days. Covers weekends with a holiday beside them, and Easter until its Monday. */
const MAX_AGE_DAYS = 4
/** Older ones are fetched anew by the request that finds them, so that no payment depends on a schedule. */
const OLD_AFTER_DAYS = 1

const NEWEST = `
select date::text as date, currency, rate::text as rate from exchange_rates
where date = (select max(date) from exchange_rates where date >= $1) order by currency`

type RateRow = Row & { readonly date: string; readonly currency: string; readonly rate: string }

export interface NewestRates extends ReferenceRates {
  readonly source: 'sandbox' | 'ecb'
}

interface Rating {
  readonly sql: Sql
  readonly systems: Pick<Systems, 'exchangeRates'>
  readonly now: Date
}

/** Null if none is recent enough. Fixed rates are always of the tenant's day; the ECB's days are real. */
export async function findNewestRates(
  mode: Mode,
  { sql, systems, now }: Rating,
): Promise<NewestRates | null> {
  const source = systems.exchangeRates(mode)
  if (source.name === 'sandbox') return { source: source.name, date: bankDateOf(now), rates: source.rates }
  const today = bankDateOf(clock.real())
  const rows = await sql<RateRow>(NEWEST, [addCalendarDays(today, -MAX_AGE_DAYS)])
  const [first] = rows
  if (!first || first.date < addCalendarDays(today, -OLD_AFTER_DAYS)) source.fetchSoon()
  if (!first) return null
  return { source: source.name, date: first.date, rates: new Map(rows.map(row => [row.currency, row.rate])) }
}

const HAS_TODAY = 'select exists (select from exchange_rates where date >= $1) as is'

const STORE = `
insert into exchange_rates (date, currency, rate, fetched_at)
select $1, r.currency, r.rate, $2 from unnest($3::text[], $4::numeric[]) as r (currency, rate)
on conflict (date, currency) do nothing`

/** Fetches the rates of live mode, unless those of today are stored. Several processes may: the same rates are stored once. */
export async function refreshRates({ sql, systems }: Omit<Rating, 'now'>): Promise<void> {
  const source = systems.exchangeRates('live')
  if (source.name === 'sandbox') return
  const now = clock.real()
  const [today] = await sql<Row & { is: boolean }>(HAS_TODAY, [bankDateOf(now)])
  if (today?.is) return
  const latest = await source.latest()
  if (isRatesFailure(latest)) throw new Problem('unavailable', latest.failure)
  if (latest.date > bankDateOf(now))
    throw new Error(`The rates are of ${latest.date}, which is in the future.`)
  if (latest.date < addCalendarDays(bankDateOf(now), -MAX_AGE_DAYS))
    throw new Error(`The newest rates are of ${latest.date}, which is too long ago.`)
  await sql(STORE, [latest.date, now, [...latest.rates.keys()], [...latest.rates.values()]])
}
