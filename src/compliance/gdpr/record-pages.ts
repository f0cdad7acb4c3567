import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { orderOf, type Place, type Shape, type Window, windowsOf, within } from './row-windows.ts'
import { type Subject, type TableOfSubject, valuesOf } from './tables-of-subject.ts'

const PAGE_SIZE = 1_000

/** How many rows are read at once where only some of them are about the subject. */
const WINDOW_SIZE = 5_000

/** `amount_cents` is the member `amountCents`. */
export const memberOf = (column: string): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The columns that are given out: all but what opens something. */
export const shownColumns = ({ table: { secret = [] } }: TableOfSubject, shape: Shape): string[] =>
  shape.columns.filter(column => !secret.includes(column))

/** The records of a window as JSON, and where each stands in the order of the primary key. */
function pageStatement(table: TableOfSubject, shape: Shape, bounds: string): string {
  const shown = shownColumns(table, shape).map(column => `t.${column} as "${memberOf(column)}"`)
  const keys = shape.key.map(([name]) => `r."${memberOf(name)}"::text`)
  const about = table.ofSubject === null ? '' : ` and ${table.ofSubject}`
  const limit = table.ofSubject === null ? `limit ${PAGE_SIZE}` : ''
  return `select to_jsonb(r)::text as json, array[${keys.join()}]::text[] as key
    from (select ${shown.join()} from ${table.name} t where ${table.ofOwner}${bounds}${about} ${orderOf(shape)} ${limit}) r`
}

interface RecordRow extends Row {
  readonly json: string
  readonly key: string[]
}

type Reading = Pick<Context, 'sql' | 'tenant'>

/** The records of a table about the subject, each as JSON, page by page: no transaction stays open in between. */
export async function* recordPages(
  table: TableOfSubject,
  shape: Shape,
  subject: Subject,
  context: Reading,
): AsyncGenerator<readonly string[]> {
  const read = (window: Window): Promise<RecordRow[]> => {
    const [bounds, values] = within(window, shape)
    return context.sql<RecordRow>(pageStatement(table, shape, bounds), [
      ...valuesOf(subject, context),
      ...values,
    ])
  }
  for await (const rows of table.ofSubject === null
    ? ownPages(read, shape)
    : pagesAbout(read, windowsOf(table, shape, subject, context, WINDOW_SIZE)))
    if (rows.length > 0) yield rows.map(({ json }) => json)
}

type Read = (window: Window) => Promise<RecordRow[]>

/** All rows of the account: each page begins behind the last row of the one before. */
async function* ownPages(read: Read, shape: Shape): AsyncGenerator<RecordRow[]> {
  let after: Place | undefined
  do {
    const rows = await read({ after, upTo: undefined })
    yield rows
    after = rows.length === PAGE_SIZE && shape.key.length > 0 ? rows.at(-1)?.key : undefined
  } while (after)
}

async function* pagesAbout(read: Read, windows: AsyncGenerator<Window>): AsyncGenerator<RecordRow[]> {
  for await (const window of windows) yield await read(window)
}
