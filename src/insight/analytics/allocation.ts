import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { figuresOf, namesOfAgents, type ReportScope, shareOf } from '../reports/index.ts'
import { linesOf, parametersOf, type Spend, type View } from '../spend/index.ts'
import { distributed } from './distribute.ts'
import { labelledBy } from './labels.ts'

/** How costs without a label are shared: not at all, by what each label costs, or alike. */
export const sharingRules = ['none', 'by_spend', 'alike'] as const
export type Sharing = (typeof sharingRules)[number]

interface Wanted extends ReportScope {
  readonly groupBy: string
  readonly shared: Sharing
  readonly limit: number
}

/** The sum of a label, or of all that are not told one by one. */
interface LabelSum extends Row {
  /** Empty: of what has no label. Null: the rest. */
  readonly label: string | null
  readonly groups: number
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  readonly sharedEuros: Euros
}

export const allocationViews = (groupBy: string): readonly View[] =>
  groupBy.startsWith('metadata.')
    ? [`label:${groupBy.slice('metadata.'.length)}`, 'run']
    : [groupBy as 'agent' | 'run' | 'merchant']

/** What each label gets of the costs without one, by the rule of the allocation. */
const WEIGHTS: Readonly<Record<Sharing, string>> = { none: '0', by_spend: 'spent - refunded', alike: '1' }

/**
 * Labels are summed, ranked and shared among in the database: however many there are, few of them leave it. What has no label is
 * a line of its own, however little that is.
 */
const textOf = ({ agentId, groupBy, shared }: Wanted, place: number): string => `
with ${linesOf({ agentId })},
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
  select label, payments, spent, refunded, place, part from (${distributed('sharing')}) as one
  union all
  select label, payments, spent, refunded, place, -amount from ranked, unlabelled where label = ''
)
select case when place <= $${place}::int or label = '' then label end as label, count(*)::int as groups, sum(payments)::int as payments,
  sum(spent)::bigint as "spentEuros", sum(refunded)::bigint as "refundedEuros", sum(part)::bigint as "sharedEuros"
from parts group by 1 order by min(place)`

function sumsBy(spend: Spend, wanted: Wanted): Promise<LabelSum[]> {
  const parameters = parametersOf(spend, { ...wanted, views: allocationViews(wanted.groupBy) })
  const text = textOf(wanted, parameters.length + 1)
  const key = wanted.groupBy.startsWith('metadata.') ? [wanted.groupBy.slice('metadata.'.length)] : []
  return spend.sql<LabelSum>(text, [...parameters, wanted.limit, ...key])
}

/** The costs divided by a label: the parts are the whole, to the cent. */
export async function allocationOf(spend: Spend, wanted: Wanted) {
  const sums = await sumsBy(spend, wanted)
  const total = figuresOf(sums)
  const told = sums.flatMap(sum => (sum.label === null ? [] : { label: sum.label, ...lineOf(sum) }))
  const rest = sums.find(({ label }) => label === null)
  const ids = wanted.groupBy === 'agent' ? told.flatMap(({ label }) => label || []) : []
  const names = await namesOfAgents(spend, ids)
  return {
    total,
    data: told.map(({ label, ...line }) => ({
      label: label || null,
      name: names.get(label) ?? null,
      ...line,
      share: shareOf(line.allocatedEuros, total.netEuros),
    })),
    other: rest ? { groups: rest.groups, ...lineOf(rest) } : null,
  }
}

function lineOf(sum: LabelSum) {
  const figures = figuresOf([sum])
  const { sharedEuros } = sum
  return { ...figures, sharedEuros, allocatedEuros: figures.netEuros + sharedEuros }
}

export type Allocation = Awaited<ReturnType<typeof allocationOf>>
