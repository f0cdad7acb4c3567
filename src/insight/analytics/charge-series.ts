import type { Row } from '../../kernel/contract/sql.ts'
import { utcDay } from '../../values/clock.ts'
import { type Cents, cents, NO_CENTS } from '../../values/money.ts'
import { addDays, daysBetween } from '../reports/index.ts'
import { type SpendSnapshot, spendLinesSql, spendQueryParameters } from '../spend/index.ts'

/** Bank holidays, weekends and the ends of short months move a charge by a few days. */
export const CHARGE_INTERVALS = {
  week: { least: 6, most: 8, days: 7, times: 4 },
  month: { least: 26, most: 34, days: 30, times: 3 },
} as const

export type ChargeInterval = keyof typeof CHARGE_INTERVALS

/** A charge that differs by a larger factor is another purchase, not a new price. */
const MAX_PRICE_FACTOR = 3

export interface ChargeSeries {
  readonly agentId: string
  readonly merchant: string
  readonly every: ChargeInterval
  readonly days: readonly string[]
  readonly cents: readonly Cents[]
  /** The first payment after the series, which came outside of its time; null if there was none. */
  readonly brokenOn: string | null
}

interface Rhythm {
  readonly every: ChargeInterval
  readonly since: string
  readonly last: string
  readonly next: string
  readonly firstCents: Cents
  readonly lastCents: Cents
  readonly beforeCents: Cents
  readonly times: number
}

const LATEST = 8

const lengthOfMonth = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

const partsOf = (day: string): [number, number, number] =>
  day.split('-').map(Number) as [number, number, number]

/** The day of the month of most charges. The last day of a short month also counts for each later one. */
function usualDay(days: readonly string[]): number | undefined {
  const parts = days.map(partsOf)
  const timesOn = (of: number): number =>
    parts.filter(([year, month, day]) => day === Math.min(of, lengthOfMonth(year, month))).length
  const [best] = [...new Set(parts.map(([, , day]) => day))]
    .map(day => ({ day, times: timesOn(day) }))
    .sort((one, other) => other.times - one.times || other.day - one.day)
  return best && best.times * 2 > days.length ? best.day : undefined
}

export function nextChargeDateAfter({
  every,
  days,
}: Pick<ChargeSeries, 'every' | 'days'>): (day: string) => string {
  if (every === 'week') return day => addDays(day, CHARGE_INTERVALS.week.days)
  const usual = usualDay(days.slice(-LATEST))
  if (usual === undefined) return day => addDays(day, CHARGE_INTERVALS.month.days)
  return day => {
    const [year, month] = partsOf(day)
    return utcDay(new Date(Date.UTC(year, month, Math.min(usual, lengthOfMonth(year, month + 1)))))
  }
}

export const isSeriesEnded = (
  { every, days }: Pick<ChargeSeries, 'every' | 'days'>,
  before: string,
): boolean => daysBetween(days.at(-1) ?? '', before) > CHARGE_INTERVALS[every].most + 1

export function chargeRhythm(run: ChargeSeries): Rhythm {
  const { every, days, cents } = run
  const last = days.at(-1) ?? ''
  return {
    every,
    since: days[0] ?? '',
    last,
    next: nextChargeDateAfter(run)(last),
    firstCents: cents[0] ?? NO_CENTS,
    lastCents: cents.at(-1) ?? NO_CENTS,
    beforeCents: cents.at(-2) ?? NO_CENTS,
    times: days.length,
  }
}

const names = Object.keys(CHARGE_INTERVALS) as (keyof typeof CHARGE_INTERVALS)[]

const isWithin = (apart: string, every: keyof typeof CHARGE_INTERVALS): string =>
  `${apart} between ${CHARGE_INTERVALS[every].least} and ${CHARGE_INTERVALS[every].most}`

export const mayFollowSql = (apart: string): string => names.map(every => isWithin(apart, every)).join(' or ')

const EVERY = `case
    when price > before_price * ${MAX_PRICE_FACTOR} or before_price > price * ${MAX_PRICE_FACTOR} then null
    ${names.map(every => `when ${isWithin('day - before_day', every)} then '${every}'`).join(' ')} end`

const LONG_ENOUGH = names.map(every => `when '${every}' then ${CHARGE_INTERVALS[every].times - 1}`).join(' ')

/** How many days of payments are read: a monthly rhythm needs more than a year to show a change. */
export const CHARGE_SERIES_HISTORY_DAYS = 400

/**
 * SQL: the price of one charge on a day. Only the sum of a day is known, so several charges at the price of
 * the only charge of the day before or after count as a repetition by mistake. If no charge has followed yet
 * and the price was steady, they may also be a new, higher price, which the next charge decides.
 */
const PRICE = `case
    when payments > 1 and spent in (payments * single_before, payments * single_after) then (spent / payments)::bigint
    when payments > 1 and after_day is null and single_before = single_earlier and spent % payments = 0
      and spent / payments between single_before and single_before * ${MAX_PRICE_FACTOR} then (spent / payments)::bigint
    else spent end`

/**
 * SQL: the CTE `runs` of the CTE `paid (agent_id, value, day, payments, spent)`, the days on which an agent
 * has paid a merchant. A run has the minimum number of charges in the same rhythm; `cents` are their prices.
 */
export const CHARGE_SERIES_SQL = `
singles as (
  select *, case when payments = 1 then spent end as single from paid
),
neighbours as (
  select *, lead(day) over one as after_day, lag(single, 2) over one as single_earlier,
    lag(single) over one as single_before, lead(single) over one as single_after
  from singles window one as (partition by agent_id, value order by day)
),
priced as (
  select agent_id, value, day, after_day, ${PRICE} as price from neighbours
),
spaced as (
  select *, lag(day) over one as before_day, lag(price) over one as before_price
  from priced window one as (partition by agent_id, value order by day)
),
followed as (
  select *, ${EVERY} as every from spaced
),
-- Days that follow each other by the same rhythm have the same number.
numbered as (
  select *, row_number() over (partition by agent_id, value order by day)
    - row_number() over (partition by agent_id, value, every order by day) as number
  from followed
),
runs as (
  select agent_id, value, every, min(before_day) || array_agg(day order by day) as days,
    (array_agg(before_price order by day))[1] || array_agg(price order by day) as cents,
    (array_agg(after_day order by day desc))[1] as broken_on
  from numbered where every is not null group by agent_id, value, every, number
  having count(*) >= case every ${LONG_ENOUGH} end
)`

export interface ChargeSeriesRow extends Row {
  readonly agentId: string | null
  readonly merchant: string
  readonly every: ChargeInterval
  readonly days: string[]
  readonly cents: string[]
  readonly brokenOn: string | null
}

export const CHARGE_SERIES_COLUMNS = `
agent_id as "agentId", value as merchant, every, days::text[] as days, cents::text[] as cents, broken_on::text as "brokenOn"`

export const toChargeSeries = ({
  agentId,
  merchant,
  every,
  days,
  cents: amounts,
  brokenOn,
}: ChargeSeriesRow): ChargeSeries[] =>
  agentId === null ? [] : [{ agentId, merchant, every, days, cents: amounts.map(cents), brokenOn }]

const VIEWS = ['merchant'] as const

const MAX_SERIES = 200

const textOf = (of: Pick<Wanted, 'agentId' | 'merchants'>): string => `
with ${spendLinesSql({ agentId: of.agentId, values: of.merchants })},
paid as (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents)::bigint as spent from lines group by 1, 2, 3 having sum(payments) > 0
),
${CHARGE_SERIES_SQL}
select ${CHARGE_SERIES_COLUMNS} from runs
order by (select sum(one) from unnest(runs.cents) as one) desc, agent_id, value, days limit ${MAX_SERIES}`

interface Wanted {
  readonly agentId?: string | undefined
  readonly merchants?: readonly string[] | undefined
  readonly before: string
}

export async function readChargeSeries(
  spend: SpendSnapshot,
  { agentId, merchants, before }: Wanted,
): Promise<ChargeSeries[]> {
  const from = addDays(before, -CHARGE_SERIES_HISTORY_DAYS)
  const parameters = spendQueryParameters(spend, { views: VIEWS, from, before, agentId, values: merchants })
  return (await spend.sql<ChargeSeriesRow>(textOf({ agentId, merchants }), parameters)).flatMap(
    toChargeSeries,
  )
}
