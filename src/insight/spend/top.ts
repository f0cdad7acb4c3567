import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { merchantOf } from './merchant.ts'
import { linesOf, parametersOf, type SpendQuestion } from './read.ts'

/** The sum of a value, or of all that are not told one by one. */
export interface TopSum extends Row {
  /** Null: the rest. */
  readonly value: string | null
  readonly isRaw: boolean
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  /** How many values are in it. */
  readonly values: number
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
select case when place <= $${place + 2}::int then value end as value, bool_or(is_raw) as "isRaw", count(*)::int as values,
  sum(payments)::int as payments, sum(spent)::bigint as "spentEuros", sum(refunded)::bigint as "refundedEuros",
  array_agg(value) filter (where is_raw) as "newNames"
from ranked group by 1 order by min(place)`

type TopQuestion = Omit<SpendQuestion, 'by' | 'values'>

/** Each time names may have become known that the time before had not. */
const MOST_TRIES = 5

/**
 * Reads the values with the highest net spend. A name that is not resolved yet may belong to any of them: where there is one,
 * all is read again with it resolved, so that no sum is told without it.
 */
export async function readTop(
  sql: Sql,
  tenant: Tenant,
  question: TopQuestion,
  most: number,
): Promise<{ readonly sums: readonly TopSum[]; readonly newNames: readonly string[] }> {
  const parameters = parametersOf(tenant, question)
  const text = textOf(question, parameters.length + 1)
  const names = new Set<string>()
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const known = [...names]
    const rows = await sql<TopSum & { newNames: string[] | null }>(text, [
      ...parameters,
      known,
      known.map(merchantOf),
      most,
    ])
    const found = rows.flatMap(({ newNames }) => newNames ?? [])
    if (found.length === 0) return { sums: rows, newNames: known }
    for (const name of found) names.add(name)
  }
  throw new Error('new merchants are paid faster than their names are read')
}
