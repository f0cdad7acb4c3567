import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { type Shape, shapeOf, shapesOf, windowsOf, within } from './record-pages.ts'
import { type Subject, type TableOfSubject, tablesOf, valuesOf } from './tables-of-subject.ts'

/** Tables with fewer rows of the account are counted together in one statement. */
const LARGE = 50_000

type Counting = Pick<Context, 'sql' | 'tenant'>

interface Found<T> extends Row {
  readonly place: number
  readonly found: T
}

const countStatement = ({ name, ofOwner, ofSubject }: TableOfSubject, bounds: string): string =>
  `select count(*)::float8 as found from ${name} t where ${ofOwner}${bounds}${ofSubject === null ? '' : ` and ${ofSubject}`}`

/** The number of records about the subject in each table. No statement reads more than a part of a large table. */
export async function countsOf(
  tables: readonly TableOfSubject[],
  subject: Subject,
  context: Counting,
): Promise<number[]> {
  const counts = tables.map(() => 0)
  if (tables.length === 0) return counts
  const values = valuesOf(subject, context)
  const large = await context.sql<Found<boolean>>(
    tables
      .map(
        ({ name, ofOwner }, place) =>
          `select ${place} as place, exists (select from ${name} t where ${ofOwner} offset ${LARGE} limit 1) as found`,
      )
      .join(' union all '),
    values,
  )
  const isLarge = new Set(large.filter(({ found }) => found).map(({ place }) => place))
  const small = tables.flatMap((table, place) =>
    isLarge.has(place) ? [] : `select ${place} as place, (${countStatement(table, '')}) as found`,
  )
  for (const { place, found } of await context.sql<Found<number>>(small.join(' union all '), values))
    counts[place] = found
  if (isLarge.size === 0) return counts
  const shapes = await shapesOf(
    tables.map(({ name }) => name),
    context,
  )
  for (const [place, table] of tables.entries())
    if (isLarge.has(place)) counts[place] = await countLarge(table, shapeOf(table, shapes), subject, context)
  return counts
}

async function countLarge(
  table: TableOfSubject,
  shape: Shape,
  subject: Subject,
  context: Counting,
): Promise<number> {
  let count = 0
  for await (const window of windowsOf(table, shape, subject, context, LARGE)) {
    const [bounds, values] = within(window, shape)
    const text = countStatement(table, bounds)
    const [row] = await context.sql<Row & { found: number }>(text, [...valuesOf(subject, context), ...values])
    count += row?.found ?? 0
  }
  return count
}

export async function countRecords(
  subject: Subject,
  context: Counting & Pick<Context, 'ports'>,
): Promise<bigint> {
  const counts = await countsOf(tablesOf(context.ports.personalAreas(), subject), subject, context)
  return BigInt(counts.reduce((sum, count) => sum + count, 0))
}
