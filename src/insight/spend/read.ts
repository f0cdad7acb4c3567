import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { type Counted, deltas } from './deltas.ts'
import { merchantOf } from './merchant.ts'

type Group = 'agent' | 'merchant' | 'mcc' | 'run' | `label:${string}`

/**
 * What the sums are divided by; `label:` goes before a key of the metadata of intents. `kept_back` has what was not spent,
 * and `completed:` the number of completed intents, on the days on which they were declared.
 */
export type View = Group | 'wallet' | 'type' | 'kept_back' | `completed:${Group}`

/** A dimension by the columns of a sum and the SQL of each. */
const columns = {
  view: { view: 'view' },
  day: { day: 'day::text' },
  week: { day: "date_trunc('week', day::timestamp)::date::text" },
  month: { day: "date_trunc('month', day::timestamp)::date::text" },
  agent: { agentId: 'agent_id' },
  run: { runId: 'run_id' },
  /** Whether it was in a run at all: `runId` is empty, or not. */
  inRun: { runId: "case when run_id = '' then '' else 'run' end" },
  value: { value: 'value', isRaw: 'is_raw' },
} as const

export type Dimension = keyof typeof columns

const sums = {
  payments: 'payments',
  spentEuros: 'spent_cents',
  refundedEuros: 'refunded_cents',
  feesEuros: 'fee_cents',
} as const

/** Days in UTC, `YYYY-MM-DD`: from one, and before the other. */
export interface Span {
  readonly from: string
  readonly before: string
}

export interface SpendQuestion extends Span {
  readonly views: readonly View[]
  /** What each sum is of: the rest is added up. */
  readonly by: readonly Dimension[]
  readonly agentId?: string | undefined
  /** Only these values. Of the merchants, names that are not resolved yet are looked at besides. */
  readonly values?: readonly string[] | undefined
}

/** Members that were not asked for are empty. */
export interface SpendSum {
  readonly view: string
  readonly day: string
  readonly agentId: string
  readonly runId: string
  readonly value: string
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  readonly feesEuros: Euros
}

const ofOwner = (alias: string): string => `${alias}.owner_id = $1 and ${alias}.mode = $2 and`

const CELL = 'view, day, agent_id, run_id, value, payments, spent_cents, refunded_cents, fee_cents'

/** What must be looked up for these views. */
const countedIn = (views: readonly View[]): Counted => ({
  keptBack: views.includes('kept_back'),
  completed: views.some(view => view.startsWith('completed:')),
  labels: views.some(view => view.includes('label:')),
})

const NO_NAMES = 'select null::text, null::text where false'
const nextTo = (parameter: string): string => `$${Number(parameter.slice(1)) + 1}`

/**
 * SQL: the CTE `lines`, the cells of `views`, which are `$3`, from the day `$4` and before `$5`, and what is not in them yet. In one
 * statement, so in one snapshot: the cells, the position up to which they go, and what lies behind that. `$6` and `$7`
 * are the agent and the values, or either alone is `$6`. `names` is the first of two parameters: names that are resolved, and
 * the merchants that they name.
 */
export function linesOf(
  { views, agentId, values }: Pick<SpendQuestion, 'views' | 'agentId' | 'values'>,
  names?: string,
): string {
  const ofAgent = agentId === undefined ? '' : 'and agent_id = $6'
  const ofValues = `value = any($${agentId === undefined ? 6 : 7}::text[])`
  const where = `view = any($3::text[]) and day >= $4::date and day < $5::date ${ofAgent}`
  return `
bounds as materialized (select written_in as since, 9223372036854775807 as until from spend_position),
names (name, merchant) as (${names ? `select * from unnest(${names}::text[], ${nextTo(names)}::text[])` : NO_NAMES}),
${deltas(ofOwner, countedIn(views))},
lines as (
  select ${CELL}, false as is_raw from spend_cells
  where owner_id = $1 and mode = $2 and ${where} ${values ? `and ${ofValues}` : ''}
  union all
  select ${CELL}, is_raw from changes where ${where} ${values ? `and (is_raw or ${ofValues})` : ''}
)`
}

/** The values of the parameters that the lines need. */
export const parametersOf = (
  { ownerId, mode }: Tenant,
  { views, from, before, agentId, values }: Omit<SpendQuestion, 'by'>,
): unknown[] => [ownerId, mode, views, from, before, agentId, values].filter(one => one !== undefined)

function textOf(question: SpendQuestion): string {
  const groups = question.by.flatMap(dimension => Object.entries(columns[dimension]))
  const selected = [
    ...groups.map(([member, column]) => `${column} as "${member}"`),
    ...Object.entries(sums).map(([member, column]) => `coalesce(sum(${column}), 0)::bigint as "${member}"`),
  ]
  const grouped = groups.length > 0 ? `group by ${groups.map(([, column]) => column).join(', ')}` : ''
  return `with ${linesOf(question)} select ${selected.join(', ')} from lines ${grouped}`
}

interface SumRow extends Row {
  readonly payments: bigint
  readonly isRaw?: boolean
}

const BLANK = { view: '', day: '', agentId: '', runId: '', value: '' }

const keyOf = ({ view, day, agentId, runId, value }: SpendSum): string =>
  [view, day, agentId, runId, value].join('\n')

/** Names that were not resolved yet are, and join the sums of their merchants. */
function resolved(rows: readonly (SpendSum & { readonly isRaw?: boolean })[]): SpendSum[] {
  if (!rows.some(({ isRaw }) => isRaw)) return [...rows]
  const sums = new Map<string, SpendSum>()
  for (const { isRaw, ...row } of rows) {
    const sum = isRaw ? { ...row, value: merchantOf(row.value) } : row
    const key = keyOf(sum)
    const known = sums.get(key)
    sums.set(key, known ? added(known, sum) : sum)
  }
  return [...sums.values()]
}

const added = (one: SpendSum, other: SpendSum): SpendSum => ({
  ...one,
  payments: one.payments + other.payments,
  spentEuros: one.spentEuros + other.spentEuros,
  refundedEuros: one.refundedEuros + other.refundedEuros,
  feesEuros: one.feesEuros + other.feesEuros,
})

/** The sums that are asked for, as they are at the instant of the answer: in no order. */
export async function readSpend(sql: Sql, tenant: Tenant, question: SpendQuestion): Promise<SpendSum[]> {
  const { values } = question
  const rows = await sql<SumRow>(textOf(question), parametersOf(tenant, question))
  const found = rows.map(
    ({ payments, ...row }) => ({ ...BLANK, ...row, payments: Number(payments) }) as unknown as SpendSum,
  )
  const wanted = values && new Set(values)
  return resolved(found).filter(
    ({ value, payments, spentEuros, refundedEuros }) =>
      (wanted?.has(value) ?? true) && (payments !== 0 || spentEuros !== 0n || refundedEuros !== 0n),
  )
}
