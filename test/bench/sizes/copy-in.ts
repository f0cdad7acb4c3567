import type pg from 'pg'

/** What `pg` has on a connection, and its types leave out. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Writes rows, each a line of PostgreSQL's text format, by COPY. */
export function copyIn(client: pg.Client, into: string, lines: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const query = {
    submit: (connection: CopyConnection) => connection.query(`copy ${into} from stdin`),
    handleCopyInResponse(connection: CopyConnection) {
      for (let first = 0; first < lines.length; first += LINES_AT_ONCE)
        connection.sendCopyFromChunk(Buffer.from(lines.slice(first, first + LINES_AT_ONCE).join('')))
      connection.endCopyFrom()
    },
    handleError: reject,
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => resolve(),
  }
  client.query(query as unknown as pg.Submittable)
  return promise
}

const LINES_AT_ONCE = 1_000

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

export const copyText = (value: string): string => value.replace(/[\\\t\n\r]/g, each => ESCAPES[each] ?? each)
export const COPY_NULL = '\\N'
