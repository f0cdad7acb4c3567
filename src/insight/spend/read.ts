import type { Row } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import type { SpendSnapshot, SpendView } from './tail.ts'

const columns = {
  view: { view: 'view' },
  day: { day: 'day::text' },
  week: { day: "date_trunc('week', day::timestamp)::date::text" },
  month: { day: "date_trunc('month', day::timestamp)::date::text" },
  agent: { agentId: 'agent_id' },
  run: { runId: 'run_id' },
  inRun: { runId: "case when run_id = '' then '' else 'run' end" },
  value: { value: 'value' },
} as const

type Dimension = keyof typeof columns

const sums = {
  payments: 'payments',
  spentCents: 'spent_cents',
  refundedCents: 'refunded_cents',
  feesCents: 'fee_cents',
} as const

/** Days in UTC, `YYYY-MM-DD`; `before` is exclusive. */
export interface DaySpan {
  readonly from: string
  readonly before: string
}

interface SpendQuestion extends DaySpan {
  readonly views: readonly SpendView[]
  readonly by: readonly Dimension[]
  readonly agentId?: string | undefined
  readonly values?: readonly string[] | undefined
}

export interface SpendSum {
  readonly view: string
  readonly day: string
  readonly agentId: string
  readonly runId: string
  readonly value: string
  readonly payments: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly feesCents: Cents
}

const CELL = 'view, day, agent_id, run_id, value, payments, spent_cents, refunded_cents, fee_cents'

/** SQL: the changes that the sums do not include yet, from the parameter `$6`. */
export const SPEND_TAIL_SQL = `jsonb_to_recordset($6::jsonb -> 'rows') as tail (view text, day date, agent_id text, run_id text, value text,
  payments bigint, spent_cents bigint, refunded_cents bigint, fee_cents bigint)`

/**
 * SQL: the CTE `lines`, the cells of `views` (`$3`) from the day `$4` and before `$5`, with the changes that
 * the sums do not include yet. `$7` and `$8` are the agent and the values; if only one of them is given, it
 * is `$7`.
 */
export function spendLinesSql({ agentId, values }: Pick<SpendQuestion, 'agentId' | 'values'>): string {
  const ofAgent = agentId === undefined ? '' : 'and agent_id = $7'
  const ofValues = values ? `and value = any($${agentId === undefined ? 7 : 8}::text[])` : ''
  const where = `view = any($3::text[]) and day >= $4::date and day < $5::date ${ofAgent} ${ofValues}`
  return `
lines as (
  select ${CELL} from spend_cells
  where owner_id = $1 and mode = $2 and ${where} and spend_stands_at($6::jsonb ->> 'position')
  union all
  select ${CELL} from ${SPEND_TAIL_SQL} where ${where}
)`
}

export function spendQueryParameters(
  { tenant: { ownerId, mode }, tail, views: known }: SpendSnapshot,
  { views, from, before, agentId, values }: Omit<SpendQuestion, 'by'>,
): unknown[] {
  const unknown = views.find(view => !known.includes(view))
  if (unknown) throw new Error(`what is not in the sums of ${unknown} yet was not read`)
  return [ownerId, mode, views, from, before, tail, agentId, values].filter(one => one !== undefined)
}

function textOf(question: SpendQuestion): string {
  const groups = question.by.flatMap(dimension => Object.entries(columns[dimension]))
  const selected = [
    ...groups.map(([member, column]) => `${column} as "${member}"`),
    ...Object.entries(sums).map(([member, column]) => `coalesce(sum(${column}), 0)::bigint as "${member}"`),
  ]
  const grouped = groups.length > 0 ? `group by ${groups.map(([, column]) => column).join(', ')}` : ''
  return `with ${spendLinesSql(question)} select ${selected.join(', ')} from lines ${grouped}`
}

interface SumRow extends Row {
  readonly payments: bigint
}

const BLANK = { view: '', day: '', agentId: '', runId: '', value: '' }

export async function readSpend(spend: SpendSnapshot, question: SpendQuestion): Promise<SpendSum[]> {
  const rows = await spend.sql<SumRow>(textOf(question), spendQueryParameters(spend, question))
  return rows
    .map(({ payments, ...row }) => ({ ...BLANK, ...row, payments: Number(payments) }) as unknown as SpendSum)
    .filter(
      ({ payments, spentCents, refundedCents }) =>
        payments !== 0 || spentCents !== 0n || refundedCents !== 0n,
    )
}

export interface DayOfSpend {
  readonly day: string
  readonly count: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly feesCents: Cents
}

interface DaysWanted extends DaySpan {
  readonly agentId?: string | undefined
}

export async function spendByDay(spend: SpendSnapshot, wanted: DaysWanted): Promise<DayOfSpend[]> {
  const sums = await readSpend(spend, { ...wanted, views: ['agent'], by: ['day'] })
  return sums
    .map(({ day, payments, spentCents, refundedCents, feesCents }) => ({
      day,
      count: payments,
      spentCents,
      refundedCents,
      feesCents,
    }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

interface TopSum extends Row {
  readonly value: string | null
  readonly payments: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly values: number
}

/**
 * The values with the highest net spend, and one sum for the rest, so that a hundred thousand values never
 * leave the database.
 */
const topTextOf = (question: TopQuestion, most: string): string => `
with ${spendLinesSql(question)},
valued as (
  select value, sum(payments) as payments, sum(spent_cents) as spent, sum(refunded_cents) as refunded from lines group by 1
),
ranked as (
  select *, row_number() over (order by spent - refunded desc, value) as place from valued
  where payments <> 0 or spent <> 0 or refunded <> 0
)
select case when place <= ${most}::int then value end as value, count(*)::int as values,
  sum(payments)::int as payments, sum(spent)::bigint as "spentCents", sum(refunded)::bigint as "refundedCents"
from ranked group by 1 order by min(place)`

type TopQuestion = Omit<SpendQuestion, 'by' | 'values'>

export function readTopSpend(spend: SpendSnapshot, question: TopQuestion, most: number): Promise<TopSum[]> {
  const parameters = spendQueryParameters(spend, question)
  return spend.sql<TopSum>(topTextOf(question, `$${parameters.length + 1}`), [...parameters, most])
}
