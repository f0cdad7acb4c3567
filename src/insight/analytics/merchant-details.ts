import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { addDays, changeOf, type ReportScope } from '../reports/index.ts'
import { linesOf, parametersOf, type Spend, TAIL } from '../spend/index.ts'
import { RUN_MEMBERS, type RunRow, runOf } from './rhythms/read-runs.ts'
import { isOver, RHYTHMS, rhythmOf } from './rhythms/rhythm.ts'
import { mayFollow, RHYTHM_DAYS, RUNS } from './rhythms/runs-sql.ts'

const NAMES = `
select merchant, array_agg(name order by name) as names from merchant_names
where owner_id = $1 and mode = $2 and merchant = any($3::text[]) group by merchant`

/** How payments name these merchants: as many texts of each as are kept. */
async function namesOf(sql: Sql, { ownerId, mode }: Tenant, merchants: readonly string[]) {
  const rows = await sql<{ merchant: string; names: string[] }>(NAMES, [ownerId, mode, merchants])
  return new Map(rows.map(({ merchant, names }) => [merchant, names]))
}

interface DetailRow extends RunRow {
  readonly key: string
  readonly firstOn: string | null
  readonly lastOn: string | null
}

/** A rhythm that is not over has had a payment within so many days. */
const RECENT_DAYS = RHYTHMS.month.most + 1

/**
 * First and last payments are found at the ends of an index, and only where the last two payments may belong to a rhythm are
 * those before them read: what it costs does not grow with how often a merchant is paid.
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
with ${linesOf({ agentId, values: [] })},
tail as materialized (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents) as spent from ${TAIL}
  where view = 'merchant' and day < $5::date ${ofAgent('tail')} group by 1, 2, 3
),
recent as (
  select agent_id, value, day from lines group by 1, 2, 3 having sum(payments) > 0
),
latest as (
  select agent_id, value, day - lag(day) over one as apart, row_number() over (partition by agent_id, value order by day desc) as place
  from recent window one as (partition by agent_id, value order by day)
),
candidates as (select agent_id, value from latest where place = 1 and (apart is null or ${mayFollow('apart')})),
history as (
  select one.* from candidates cross join lateral (
    select c.agent_id, c.value, c.day, c.payments, c.spent_cents as spent ${cells}
      and c.value = candidates.value and c.agent_id = candidates.agent_id and c.day >= $5::date - ${RHYTHM_DAYS}
  ) as one
  union all
  select agent_id, value, day, payments, spent from tail join candidates using (agent_id, value)
  where day >= $5::date - ${RHYTHM_DAYS}
),
paid as (
  select agent_id, value, day, sum(payments) as payments, sum(spent)::bigint as spent from history group by 1, 2, 3 having sum(payments) > 0
),
${RUNS},
longest as materialized (
  select distinct on (value) * from runs
  where broken_on is null and $5::date - days[cardinality(days)] <= case every
    ${Object.entries(RHYTHMS)
      .map(([every, { most }]) => `when '${every}' then ${most + 1}`)
      .join(' ')} end
  order by value, cardinality(days) desc, agent_id
)
select wanted.key, ${RUN_MEMBERS}, least(${paidOn('asc')}, (select min(t.day) ${tailOn}))::text as "firstOn",
  greatest(${paidOn('desc')}, (select max(t.day) ${tailOn}))::text as "lastOn"
from unnest(${values}::text[]) as wanted (key) left join longest on longest.value = wanted.key`
}

/** What is told of merchants beside their sums. */
export async function merchantDetails(
  spend: Spend,
  { values, ...scope }: ReportScope & { values: readonly string[] },
) {
  const { sql, tenant, newNames } = spend
  const from = addDays(scope.before, -RECENT_DAYS)
  const parameters = parametersOf(spend, { ...scope, from, values, views: ['merchant'] })
  const [names, rows] = await Promise.all([
    namesOf(sql, tenant, values),
    sql<DetailRow>(textOf(scope, `$${parameters.length}`), parameters),
  ])
  const details = new Map(
    rows.map(row => {
      const { key, firstOn, lastOn } = row
      const texts = new Set([...(names.get(key) ?? []), ...(newNames.get(key) ?? [])])
      return [key, { names: [...texts].sort(), firstOn, lastOn, rhythm: rhythmTold(row, scope.before) }]
    }),
  )
  return (key: string) => details.get(key)
}

/** The rhythm of the agent that has paid by it for longest. */
function rhythmTold(row: DetailRow, before: string) {
  const [run] = runOf(row)
  if (!run || isOver(run, before)) return null
  const rhythm = rhythmOf(run)
  return { agentId: run.agentId || null, ...rhythm, change: changeOf(rhythm.lastEuros, rhythm.firstEuros) }
}
