import type { Row } from '../../kernel/contract/sql.ts'
import { type CsvColumns, csvCell } from '../../values/csv.ts'
import { addCents, type Cents, formatDecimal } from '../../values/money.ts'
import {
  computeSpendFigures,
  inclusiveSpan,
  type ReportScope,
  ratioOf,
  readAgentNames,
} from '../reports/index.ts'
import {
  type DaySpan,
  type SpendSnapshot,
  type SpendView,
  shortLabelSql,
  spendLinesSql,
  spendQueryParameters,
} from '../spend/index.ts'

/** How costs without a label are shared: not at all, by what each label costs, or equally. */
export const costSharingRules = ['none', 'by_spend', 'alike'] as const
type Sharing = (typeof costSharingRules)[number]

interface Wanted extends ReportScope {
  readonly groupBy: string
  readonly shared: Sharing
  readonly limit: number
}

interface LabelSum extends Row {
  readonly label: string | null
  readonly groups: number
  readonly payments: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly sharedCents: Cents
}

export const allocationViews = (groupBy: string): readonly SpendView[] =>
  groupBy.startsWith('metadata.')
    ? [`label:${groupBy.slice('metadata.'.length)}`, 'run']
    : [groupBy as 'agent' | 'run' | 'merchant']

const WEIGHTS: Readonly<Record<Sharing, string>> = { none: '0', by_spend: 'spent - refunded', alike: '1' }

/**
 * Sums, ranks and shares labels in the database, so that few of them leave it, however many there are. Costs
 * without a label always have a line of their own.
 */
const textOf = ({ agentId, groupBy, shared }: Wanted, place: number): string => `
with ${spendLinesSql({ agentId })},
${labelledBy(groupBy, `$${place + 1}::text`)},
summed as (
  select label, sum(payments) as payments, sum(spent_cents) as spent, sum(refunded_cents) as refunded
  from labelled group by 1
),
ranked as (
  select *, row_number() over (order by spent - refunded desc, label collate "C") as place from summed
  where payments <> 0 or spent <> 0 or refunded <> 0
),
unlabelled as (
  select case when ${shared === 'none'} or (select count(*) from ranked) = 1 then 0
    else coalesce(sum(spent - refunded), 0) end as amount from ranked where label = ''
),
sharing as (
  select ranked.*, amount, ${WEIGHTS[shared]} as weight from ranked, unlabelled where label <> ''
),
parts as (
  select label, payments, spent, refunded, place, part from (${distributeCentsSql('sharing')}) as one
  union all
  select label, payments, spent, refunded, place, -amount from ranked, unlabelled where label = ''
)
select case when place <= $${place}::int or label = '' then label end as label, count(*)::int as groups, sum(payments)::int as payments,
  sum(spent)::bigint as "spentCents", sum(refunded)::bigint as "refundedCents", sum(part)::bigint as "sharedCents"
from parts group by 1 order by min(place)`

function sumsBy(spend: SpendSnapshot, wanted: Wanted): Promise<LabelSum[]> {
  const parameters = spendQueryParameters(spend, { ...wanted, views: allocationViews(wanted.groupBy) })
  const text = textOf(wanted, parameters.length + 1)
  const key = wanted.groupBy.startsWith('metadata.') ? [wanted.groupBy.slice('metadata.'.length)] : []
  return spend.sql<LabelSum>(text, [...parameters, wanted.limit, ...key])
}

export async function computeAllocation(spend: SpendSnapshot, wanted: Wanted) {
  const sums = await sumsBy(spend, wanted)
  const total = computeSpendFigures(sums)
  const listed = sums.flatMap(sum => (sum.label === null ? [] : { label: sum.label, ...lineOf(sum) }))
  const rest = sums.find(({ label }) => label === null)
  const ids = wanted.groupBy === 'agent' ? listed.flatMap(({ label }) => label || []) : []
  const names = await readAgentNames(spend, ids)
  return {
    total,
    data: listed.map(({ label, ...line }) => ({
      label: label || null,
      name: names.get(label) ?? null,
      ...line,
      share: ratioOf(line.allocatedCents, total.netCents),
    })),
    other: rest ? { groups: rest.groups, ...lineOf(rest) } : null,
  }
}

function lineOf(sum: LabelSum) {
  const figures = computeSpendFigures([sum])
  const { sharedCents } = sum
  return { ...figures, sharedCents, allocatedCents: addCents(figures.netCents, sharedCents) }
}

type Allocation = Awaited<ReturnType<typeof computeAllocation>>

const KEPT = 'payments, spent_cents, refunded_cents'

const less = (column: string): string => `case when view = 'run' then ${column} else -${column} end`

const labelOf = (table: 'runs' | 'agents', id: string, key: string): string => `
left join lateral (
  select ${shortLabelSql(`(one.metadata ->> ${key})`)} as text from ${table} one
  where (one.owner_id, one.mode, one.id) = ($1, $2, ${id}) limit 1
) as of_${table} on true`

/**
 * SQL: the CTE `labelled`, which is `lines`, each with its label or an empty one. A key of the metadata
 * (parameter `key`) takes the label of the intent, else of the run, else of the agent: `lines` must have the
 * view of the key, which has the labels of intents, and the view of runs, which has every payment.
 */
function labelledBy(groupBy: string, key: string): string {
  if (!groupBy.startsWith('metadata.')) {
    const label = { agent: 'agent_id', run: 'run_id', merchant: 'value' }[groupBy]
    return `labelled (label, ${KEPT}) as (select ${label}, ${KEPT} from lines)`
  }
  return `
rest as (
  select agent_id, run_id, sum(${less('payments')}) as payments, sum(${less('spent_cents')}) as spent_cents,
    sum(${less('refunded_cents')}) as refunded_cents
  from lines group by 1, 2
),
labelled (label, ${KEPT}) as (
  select value, ${KEPT} from lines where view <> 'run'
  union all
  select coalesce(of_runs.text, of_agents.text, '') collate "C", ${KEPT}
  from rest ${labelOf('runs', 'rest.run_id', key)} ${labelOf('agents', 'rest.agent_id', key)}
)`
}

/**
 * SQL that divides an amount by weights, to the cent, so that the parts add up to the whole: each row gets
 * its share rounded down, and the leftover cents go to the largest remainders, ties by the earlier `place`.
 * Negative weights count as zero; if all weights are zero, the parts are equal. The CTE `name` has `amount`,
 * the same in each row, `weight` and `place`, all whole numbers. The result has its rows with their `part`.
 */
export const distributeCentsSql = (name: string): string => `
select rounded.*, (case when amount < 0 then -1 else 1 end) * (least_part + case
    when row_number() over (order by missing desc, place) <= abs(amount) - sum(least_part) over () then 1 else 0 end
  ) as part
from (
  select weighed.*, div(abs(amount) * due, whole) as least_part, mod(abs(amount) * due, whole) as missing
  from (
    select counted.*, sum(due) over () as whole
    from (
      select one.*, case when max(weight) over () > 0 then greatest(weight, 0) else 1 end::numeric as due from ${name} as one
    ) as counted
  ) as weighed
) as rounded`

type Line = Omit<Allocation['data'][number], 'share'> & { readonly from: string; readonly to: string }

export const allocationCsvColumns: CsvColumns<Line> = {
  from: ({ from }) => from,
  to: ({ to }) => to,
  label: ({ label }) => csvCell(label ?? '(no label)'),
  name: ({ name }) => csvCell(name),
  count: ({ count }) => String(count),
  spentCents: ({ spentCents }) => formatDecimal(spentCents),
  refundedCents: ({ refundedCents }) => formatDecimal(refundedCents),
  netCents: ({ netCents }) => formatDecimal(netCents),
  sharedCents: ({ sharedCents }) => formatDecimal(sharedCents),
  allocatedCents: ({ allocatedCents }) => formatDecimal(allocatedCents),
}

export const allocationCsvLines = ({ data, other }: Allocation, span: DaySpan): Line[] => {
  const lines = other ? [...data, { ...other, label: '(all others)', name: null }] : data
  return lines.map(line => ({ ...line, ...inclusiveSpan(span) }))
}
