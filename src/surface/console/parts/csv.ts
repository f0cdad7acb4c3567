import type { CallOperation } from '../../../kernel/contract/context.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { csvCell, csvLine } from '../../../values/csv.ts'
import { listQueryFromAddress } from './list.ts'

const MOST = 10_000
const PAGE = 100

type Row = Readonly<Record<string, unknown>>

export async function* streamCsvPages(
  ask: CallOperation,
  operation: AnyOperation,
  filters: Readonly<Record<string, string>>,
): AsyncGenerator<string> {
  let columns: readonly string[] | undefined
  let cursor: string | undefined
  for (let count = 0; count < MOST; count += PAGE) {
    const query = { ...filters, limit: PAGE, cursor }
    const { data, nextCursor } = (await ask(operation, listQueryFromAddress(operation, query))) as {
      data: Row[]
      nextCursor: string | null
    }
    columns ??= Object.keys(data[0] ?? { id: '' })
    const head = count === 0 ? csvLine(columns) : ''
    yield head + data.map(row => csvLine(columns?.map(name => cell(row[name])) ?? [])).join('')
    if (nextCursor === null) return
    cursor = nextCursor
  }
}

function cell(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === null || value === undefined) return ''
  return csvCell(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Reads the first piece before the response begins, so that a refusal has its own status. */
export async function startStream(pieces: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await pieces.next()
  return (async function* () {
    if (!first.done) yield first.value
    yield* pieces
  })()
}
