import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { linesOf, parametersOf, type SpendQuestion } from './read.ts'
import type { Spend } from './tail.ts'

/** The sum of a value, or of all that are not told one by one. */
interface TopSum extends Row {
  /** Null: the rest. */
  readonly value: string | null
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  /** How many values are in it. */
  readonly values: number
}

/** The values with the highest net spend, and the rest in one sum: a hundred thousand of them never leave the database. */
const textOf = (question: TopQuestion, most: string): string => `
with ${linesOf(question)},
valued as (
  select value, sum(payments) as payments, sum(spent_cents) as spent, sum(refunded_cents) as refunded from lines group by 1
),
ranked as (
  select *, row_number() over (order by spent - refunded desc, value) as place from valued
  where payments <> 0 or spent <> 0 or refunded <> 0
)
select case when place <= ${most}::int then value end as value, count(*)::int as values,
  sum(payments)::int as payments, sum(spent)::bigint as "spentEuros", sum(refunded)::bigint as "refundedEuros"
from ranked group by 1 order by min(place)`

type TopQuestion = Omit<SpendQuestion, 'by' | 'values'>

/** Reads the values with the highest net spend. */
export function readTop(spend: Spend, question: TopQuestion, most: number): Promise<TopSum[]> {
  const parameters = parametersOf(spend, question)
  return spend.sql<TopSum>(textOf(question, `$${parameters.length + 1}`), [...parameters, most])
}
