import type { Row } from '../../kernel/contract/sql.ts'
import { addCents, type Cents, fractionOf, NO_CENTS, subtractCents } from '../../values/money.ts'
import { type ReportScope, readAgentNames } from '../reports/index.ts'
import {
  type SpendSnapshot,
  type SpendView,
  shortLabelSql,
  spendLinesSql,
  spendQueryParameters,
} from '../spend/index.ts'

/** The quantile of the normal distribution for a 95 % interval. */
const Z = 1.959963984540054

interface Rate {
  readonly rate: number
  readonly low: number
  readonly high: number
}

const fourDecimals = (share: number): number => Math.round(share * 10_000) / 10_000

/** Wilson score interval: it stays between 0 and 1, and stays wide for few cases. Null without any. */
export function successRate(successes: number, trials: number): Rate | null {
  if (trials === 0) return null
  const rate = successes / trials
  const square = (Z * Z) / trials
  const centre = (rate + square / 2) / (1 + square)
  const reach = (Z / (1 + square)) * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials))
  const low = successes === 0 ? 0 : centre - reach
  const high = successes === trials ? 1 : centre + reach
  return { rate: fourDecimals(rate), low: fourDecimals(low), high: fourDecimals(high) }
}

interface GroupRow extends Row {
  /** Empty without such a member; null for the remaining groups. */
  readonly key: string | null
  readonly groups: number
  readonly completed: number
  readonly reported: number
  readonly succeeded: number
  readonly valued: number
  readonly valueCents: Cents
  readonly spendCents: Cents
}

interface Grouping {
  readonly view: SpendView
  readonly ofLine: string
  readonly ofOutcome: string
  /** The group of the intent, for outcomes without a group of their own, since every outcome has an intent. */
  readonly ofIntent: string
  /** A view to subtract: lines in `view` but not here have no group. */
  readonly minus?: SpendView
}

const NONE = 'null::text'

const groupings: Readonly<Record<string, Grouping>> = {
  agent: { view: 'completed:agent', ofLine: 'agent_id', ofOutcome: 'o.agent_id', ofIntent: NONE },
  merchant: { view: 'completed:merchant', ofLine: 'value', ofOutcome: 'o.merchant', ofIntent: NONE },
  mcc: { view: 'completed:mcc', ofLine: 'value', ofOutcome: 'o.mcc', ofIntent: NONE },
  run: { view: 'completed:run', ofLine: 'run_id', ofOutcome: 'o.run_id', ofIntent: NONE },
}

/** Intents without the key are all intents less those with it. */
function groupingBy(groupBy: string, place: string): Grouping {
  const known = groupings[groupBy]
  if (known) return known
  const key = groupBy.slice('metadata.'.length)
  const label = (json: string): string => shortLabelSql(`(${json} ->> ${place})`)
  return {
    view: `completed:label:${key}`,
    minus: 'completed:agent',
    ofLine: 'value',
    ofOutcome: label('o.metadata'),
    ofIntent: `coalesce(${label('i.metadata')}, '')`,
  }
}

const viewsOf = ({ view, minus }: Grouping): readonly SpendView[] => (minus ? [view, minus] : [view])

export const outcomeSummaryViews = (groupBy: string): readonly SpendView[] => viewsOf(groupingBy(groupBy, ''))

/**
 * The CTE `reported`: intents with their present state, and their cost as payments less refunds. Intents and
 * their payments are read by a list of ids, which are neighbours in an index of any size, and joined to
 * outcomes by grouping: PostgreSQL cannot estimate how many there are, and might join them one by one. The index
 * of payments by intent is of another collation than the outcomes' column, whose own would keep PostgreSQL from it.
 */
const reportedBy = ({ ofOutcome, ofIntent }: Grouping, ofAgent: string): string => `
reports as materialized (
  select o.intent_id collate "default" as intent_id, ${ofOutcome} as key, o.success, o.value_cents from outcomes o
  where o.owner_id = $1 and o.mode = $2 and o.declared_at >= $4::date::timestamp at time zone 'UTC'
    and o.declared_at < $5::date::timestamp at time zone 'UTC' ${ofAgent}
),
parts (intent_id, key, intent_key, is_completed, success, value_cents, net) as (
  select intent_id, key, ${NONE}, false, success, value_cents, 0 from reports
  union all
  select i.id, null, ${ofIntent}, i.status = 'completed', null, null, 0 from intents i
  where i.owner_id = $1 and i.mode = $2 and i.id = any(array(select intent_id from reports))
  union all
  select t.intent_id, null, null, false, null, null, t.amount_cents - t.refunded_cents from transactions t
  where t.owner_id = $1 and t.mode = $2 and t.intent_id = any(array(select intent_id from reports))
    and t.status <> 'declined' and t.status in ('settlement', 'settled', 'completed', 'refunded')
),
reported as materialized (
  select coalesce(max(key), max(intent_key), '') as key, coalesce(max(intent_key), max(key), '') as intent_key,
    bool_or(is_completed) as is_completed, bool_or(success) as success, max(value_cents) as value_cents, sum(net) as net
  from parts group by intent_id
)`

/**
 * Ranks groups by the number of reports. An outcome from before an update may be in another group than the
 * line of its intent, since the rules that name merchants change.
 */
const RANKED = `
summed as (
  select key, greatest(sum(completed), 0) as completed, sum(reported) as reported, sum(succeeded) as succeeded,
    sum(valued) as valued, sum(value) as value, sum(spend) as spend
  from counts group by 1
),
ranked as (
  select *, row_number() over (order by reported desc, completed desc, key collate "C") as place from summed
  where completed > 0 or reported > 0
)`

function textOf(groupBy: string, { agentId }: ReportScope, place: number): string {
  const grouping = groupingBy(groupBy, `$${place + 1}::text`)
  const { ofLine, minus } = grouping
  const ofAgent = agentId === undefined ? '' : 'and o.agent_id = $7'
  const unlabelled = minus
    ? `union all
  select '', case when view = '${minus}' then payments else -payments end, 0, 0, 0, 0, 0 from lines`
    : ''
  return `
with ${spendLinesSql({ agentId })},
${reportedBy(grouping, ofAgent)},
counts (key, completed, reported, succeeded, valued, value, spend) as (
  select ${ofLine}, payments, 0, 0, 0, 0, 0 from lines ${minus ? `where view <> '${minus}'` : ''} ${unlabelled}
  union all select intent_key, -1, 0, 0, 0, 0, 0 from reported where is_completed
  union all select key, 0, 1, success::int, (value_cents is not null)::int, coalesce(value_cents, 0), net from reported
),
${RANKED}
select case when place <= $${place}::int then key end as key, count(*)::int as groups, sum(completed)::int as completed,
  sum(reported)::int as reported, sum(succeeded)::int as succeeded, sum(valued)::int as valued,
  sum(value)::bigint as "valueCents", sum(spend)::bigint as "spendCents"
from ranked group by 1 order by min(place)`
}

const NOTHING = {
  completed: 0,
  reported: 0,
  succeeded: 0,
  valued: 0,
  valueCents: NO_CENTS,
  spendCents: NO_CENTS,
}
type Counts = typeof NOTHING

const added = (one: Counts, other: Counts): Counts => ({
  completed: one.completed + other.completed,
  reported: one.reported + other.reported,
  succeeded: one.succeeded + other.succeeded,
  valued: one.valued + other.valued,
  valueCents: addCents(one.valueCents, other.valueCents),
  spendCents: addCents(one.spendCents, other.spendCents),
})

function summaryFigures({ completed, reported, succeeded, valued, valueCents, spendCents }: Counts) {
  const returnCents = subtractCents(valueCents, spendCents)
  const successes = BigInt(succeeded)
  const isPriced = succeeded > 0 && spendCents > 0n
  return {
    reported,
    succeeded,
    successRate: successRate(succeeded, reported),
    netSpendCents: spendCents,
    valueCents,
    valued,
    returnCents,
    returnShare:
      spendCents > 0n ? Math.round((Number(returnCents) / Number(spendCents)) * 10_000) / 10_000 : null,
    costPerSuccessCents: isPriced ? fractionOf(spendCents, [1n, successes], 'half') : null,
    unreported: completed,
  }
}

export async function computeOutcomeSummary(
  spend: SpendSnapshot,
  { groupBy, limit, ...scope }: ReportScope & { readonly groupBy: string; readonly limit: number },
) {
  const grouping = groupingBy(groupBy, '')
  const parameters = spendQueryParameters(spend, { ...scope, views: viewsOf(grouping) })
  const label = grouping.minus ? [groupBy.slice('metadata.'.length)] : []
  const text = textOf(groupBy, scope, parameters.length + 1)
  const rows = await spend.sql<GroupRow>(text, [...parameters, limit, ...label])
  const listed = rows.flatMap(row => (row.key === null ? [] : { ...row, key: row.key }))
  const rest = rows.find(({ key }) => key === null)
  const names = await readAgentNames(spend, groupBy === 'agent' ? listed.map(({ key }) => key) : [])
  return {
    total: summaryFigures(rows.reduce(added, NOTHING)),
    data: listed.map(row => ({
      key: row.key || null,
      name: names.get(row.key) ?? null,
      ...summaryFigures(row),
    })),
    other: rest ? { groups: rest.groups, ...summaryFigures(rest) } : null,
  }
}
