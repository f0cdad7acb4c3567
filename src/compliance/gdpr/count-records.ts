import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import {
  keyWindows,
  readTableShapes,
  type TableShape,
  tableShapeOf,
  windowCondition,
} from './record-pages.ts'
import {
  type DataSubject,
  type SubjectTable,
  subjectQueryValues,
  subjectTables,
} from './tables-of-subject.ts'

/** Tables with fewer rows of the account are counted together in one statement. */
const LARGE = 50_000

interface Found<T> extends Row {
  readonly place: number
  readonly found: T
}

const countStatement = ({ name, ofOwner, ofSubject }: SubjectTable, bounds: string): string =>
  `select count(*)::float8 as found from ${name} t where ${ofOwner}${bounds}${ofSubject === null ? '' : ` and ${ofSubject}`}`

/** The number of records about the subject in each table. No statement reads more than a part of a large table. */
export async function countRecordsByTable(
  tables: readonly SubjectTable[],
  subject: DataSubject,
  context: SqlContext,
): Promise<number[]> {
  const counts = tables.map(() => 0)
  if (tables.length === 0) return counts
  const values = subjectQueryValues(subject, context)
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
  const shapes = await readTableShapes(
    tables.map(({ name }) => name),
    context,
  )
  for (const [place, table] of tables.entries())
    if (isLarge.has(place))
      counts[place] = await countLarge(table, tableShapeOf(table, shapes), subject, context)
  return counts
}

async function countLarge(
  table: SubjectTable,
  shape: TableShape,
  subject: DataSubject,
  context: SqlContext,
): Promise<number> {
  let count = 0
  for await (const window of keyWindows(table, shape, subject, context, LARGE)) {
    const [bounds, values] = windowCondition(window, shape)
    const text = countStatement(table, bounds)
    const [row] = await context.sql<Row & { found: number }>(text, [
      ...subjectQueryValues(subject, context),
      ...values,
    ])
    count += row?.found ?? 0
  }
  return count
}

export async function countSubjectRecords(subject: DataSubject, context: ReadContext): Promise<bigint> {
  const counts = await countRecordsByTable(
    subjectTables(context.ports.personalAreas(), subject),
    subject,
    context,
  )
  return BigInt(counts.reduce((sum, count) => sum + count, 0))
}
