import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type CsvColumns, csvCell } from '../../values/csv.ts'
import { formatDecimal } from '../../values/money.ts'
import {
  addDays,
  computeSpendFigures,
  type ReportScope,
  type ReportScopeUntilToday,
  ratioOf,
  relativeChange,
} from '../reports/index.ts'
import {
  readTopSpend,
  SPEND_TAIL_SQL,
  type SpendSnapshot,
  spendLinesSql,
  spendQueryParameters,
} from '../spend/index.ts'
import {
  CHARGE_INTERVALS,
  CHARGE_SERIES_COLUMNS,
  CHARGE_SERIES_HISTORY_DAYS,
  CHARGE_SERIES_SQL,
  type ChargeSeriesRow,
  chargeRhythm,
  isSeriesEnded,
  mayFollowSql,
  toChargeSeries,
} from './charge-series.ts'

type Wanted = ReportScopeUntilToday & { readonly groupBy: 'merchant' | 'mcc'; readonly limit: number }

const NO_DETAILS = { names: [], firstOn: null, lastOn: null, rhythm: null }

export async function computeMerchantSpend(spend: SpendSnapshot, { groupBy, limit, ...scope }: Wanted) {
  const sums = await readTopSpend(spend, { ...scope, views: [groupBy] }, limit)
  const total = computeSpendFigures(sums)
  const listed = sums.flatMap(sum =>
    sum.value === null ? [] : { key: sum.value, ...computeSpendFigures([sum]) },
  )
  const rest = sums.find(({ value }) => value === null)
  const values = groupBy === 'merchant' ? listed.map(({ key }) => key) : []
  const detailsOf =
    values.length > 0
      ? await readMerchantDetails(spend, { ...scope, before: scope.knownBefore, values })
      : undefined
  return {
    total,
    data: listed.map(({ key, ...figures }) => ({
      key: key || null,
      ...figures,
      share: ratioOf(figures.netCents, total.netCents),
      ...(detailsOf?.(key) ?? NO_DETAILS),
    })),
    other: rest ? { groups: rest.values, ...computeSpendFigures([rest]) } : null,
  }
}

type Merchants = Awaited<ReturnType<typeof computeMerchantSpend>>

const NAMES = `
select merchant, array_agg(name order by name) as names from merchant_names
where owner_id = $1 and mode = $2 and merchant = any($3::text[]) group by merchant`

async function namesOf(sql: Sql, { ownerId, mode }: Tenant, merchants: readonly string[]) {
  const rows = await sql<{ merchant: string; names: string[] }>(NAMES, [ownerId, mode, merchants])
  return new Map(rows.map(({ merchant, names }) => [merchant, names]))
}

interface DetailRow extends ChargeSeriesRow {
  readonly key: string
  readonly firstOn: string | null
  readonly lastOn: string | null
}

const RECENT_DAYS = CHARGE_INTERVALS.month.most + 1

/**
 * Finds first and last payments at the ends of an index, and reads earlier ones only if the last two may
 * belong to a rhythm, so that the cost does not grow with the number of payments.
 */
function textOf({ agentId }: ReportScope, values: string): string {
  const ofAgent = (alias: string): string => (agentId === undefined ? '' : `and ${alias}.agent_id = $7`)
  const cells = `
from spend_cells c where c.owner_id = $1 and c.mode = $2 and c.view = 'merchant' and c.day < $5::date and c.payments > 0`
  const paidOn = (order: 'asc' | 'desc'): string => `
(select c.day ${cells} and c.value = wanted.key ${ofAgent('c')}
  and c.payments + coalesce((select sum(t.payments) from tail t
    where (t.agent_id, t.value, t.day) = (c.agent_id, c.value, c.day)), 0) > 0
  order by c.day ${order} limit 1)`
  const tailOn = `from tail t where t.value = wanted.key and t.payments > 0`
  return `
with ${spendLinesSql({ agentId, values: [] })},
tail as materialized (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents) as spent from ${SPEND_TAIL_SQL}
  where view = 'merchant' and day < $5::date ${ofAgent('tail')} group by 1, 2, 3
),
recent as (
  select agent_id, value, day from lines group by 1, 2, 3 having sum(payments) > 0
),
latest as (
  select agent_id, value, day - lag(day) over one as apart, row_number() over (partition by agent_id, value order by day desc) as place
  from recent window one as (partition by agent_id, value order by day)
),
candidates as (select agent_id, value from latest where place = 1 and (apart is null or ${mayFollowSql('apart')})),
history as (
  select one.* from candidates cross join lateral (
    select c.agent_id, c.value, c.day, c.payments, c.spent_cents as spent ${cells}
      and c.value = candidates.value and c.agent_id = candidates.agent_id and c.day >= $5::date - ${CHARGE_SERIES_HISTORY_DAYS}
  ) as one
  union all
  select agent_id, value, day, payments, spent from tail join candidates using (agent_id, value)
  where day >= $5::date - ${CHARGE_SERIES_HISTORY_DAYS}
),
paid as (
  select agent_id, value, day, sum(payments) as payments, sum(spent)::bigint as spent from history group by 1, 2, 3 having sum(payments) > 0
),
${CHARGE_SERIES_SQL},
longest as materialized (
  select distinct on (value) * from runs
  where broken_on is null and $5::date - days[cardinality(days)] <= case every
    ${Object.entries(CHARGE_INTERVALS)
      .map(([every, { most }]) => `when '${every}' then ${most + 1}`)
      .join(' ')} end
  order by value, cardinality(days) desc, agent_id
)
select wanted.key, ${CHARGE_SERIES_COLUMNS}, least(${paidOn('asc')}, (select min(t.day) ${tailOn}))::text as "firstOn",
  greatest(${paidOn('desc')}, (select max(t.day) ${tailOn}))::text as "lastOn"
from unnest(${values}::text[]) as wanted (key) left join longest on longest.value = wanted.key`
}

export async function readMerchantDetails(
  spend: SpendSnapshot,
  { values, ...scope }: ReportScope & { values: readonly string[] },
) {
  const { sql, tenant, newNames } = spend
  const from = addDays(scope.before, -RECENT_DAYS)
  const parameters = spendQueryParameters(spend, { ...scope, from, values, views: ['merchant'] })
  const [names, rows] = await Promise.all([
    namesOf(sql, tenant, values),
    sql<DetailRow>(textOf(scope, `$${parameters.length}`), parameters),
  ])
  const details = new Map(
    rows.map(row => {
      const { key, firstOn, lastOn } = row
      const texts = new Set([...(names.get(key) ?? []), ...(newNames.get(key) ?? [])])
      return [key, { names: [...texts].sort(), firstOn, lastOn, rhythm: rhythmResponse(row, scope.before) }]
    }),
  )
  return (key: string) => details.get(key)
}

function rhythmResponse(row: DetailRow, before: string) {
  const [run] = toChargeSeries(row)
  if (!run || isSeriesEnded(run, before)) return null
  const rhythm = chargeRhythm(run)
  return {
    agentId: run.agentId || null,
    ...rhythm,
    change: relativeChange(rhythm.lastCents, rhythm.firstCents),
  }
}

type Line = Omit<Merchants['data'][number], 'share'>

export const merchantColumns: CsvColumns<Line> = {
  merchant: ({ key }) => csvCell(key),
  names: ({ names }) => csvCell(names.join(' | ')),
  count: ({ count }) => String(count),
  spentCents: ({ spentCents }) => formatDecimal(spentCents),
  refundedCents: ({ refundedCents }) => formatDecimal(refundedCents),
  netCents: ({ netCents }) => formatDecimal(netCents),
  firstOn: ({ firstOn }) => firstOn ?? '',
  lastOn: ({ lastOn }) => lastOn ?? '',
  every: ({ rhythm }) => rhythm?.every ?? '',
  lastCents: ({ rhythm }) => (rhythm ? formatDecimal(rhythm.lastCents) : ''),
}

export const merchantCsvLines = ({ data, other }: Merchants): Line[] =>
  other ? [...data, { ...other, key: 'other', names: [], firstOn: null, lastOn: null, rhythm: null }] : data
