import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { linesOf, parametersOf, type SpendQuestion } from './read.ts'
import { withNames } from './with-names.ts'

/** The sum of a value, or of all that are not told one by one. */
export interface TopSum extends Row {
  /** Null: the rest. */
  readonly value: string | null
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  /** How many values are in it. */
  readonly values: number
  readonly newNames: string[] | null
}

/** The values with the highest net spend, and the rest in one sum: a hundred thousand of them never leave the database. */
const textOf = (question: TopQuestion, place: number): string => `
with ${linesOf(question, `$${place}`)},
valued as (
  select value, is_raw, sum(payments) as payments, sum(spent_cents) as spent, sum(refunded_cents) as refunded
  from lines group by 1, 2
),
ranked as (
  select *, row_number() over (order by spent - refunded desc, value) as place from valued
  where payments <> 0 or spent <> 0 or refunded <> 0
)
select case when place <= $${place + 2}::int then value end as value, count(*)::int as values,
  sum(payments)::int as payments, sum(spent)::bigint as "spentEuros", sum(refunded)::bigint as "refundedEuros",
  array_agg(value) filter (where is_raw) as "newNames"
from ranked group by 1 order by min(place)`

type TopQuestion = Omit<SpendQuestion, 'by' | 'values'>

/** Reads the values with the highest net spend, and the texts of merchants that were new in it. */
export async function readTop(
  sql: Sql,
  tenant: Tenant,
  question: TopQuestion,
  most: number,
): Promise<{ readonly sums: readonly TopSum[]; readonly newNames: readonly string[] }> {
  const parameters = parametersOf(tenant, question)
  const text = textOf(question, parameters.length + 1)
  const { rows, names } = await withNames(known => sql<TopSum>(text, [...parameters, ...known, most]))
  return { sums: rows, newNames: names }
}
