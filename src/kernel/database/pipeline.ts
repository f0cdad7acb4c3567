import { createHash } from 'node:crypto'
import pg, { type Connection, type Pool, type PoolClient, type Submittable } from 'pg'
import type { Row } from '../contract/sql.ts'

type Parse = (text: string) => unknown

/** PostgreSQL refuses to change the columns of a prepared statement. */
type Columns = readonly { readonly name: string; readonly parse: Parse }[]

/**
 * `sent` until the first answer; `unsure` after a failure that may have come before or after the statement
 * was prepared.
 */
type Prepared = Columns | 'sent' | 'unsure'

const preparedOn = new WeakMap<Connection, Map<string, Prepared>>()

function preparedStatementsOf(connection: Connection): Map<string, Prepared> {
  const statements = preparedOn.get(connection) ?? new Map<string, Prepared>()
  preparedOn.set(connection, statements)
  return statements
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  const existing = names.get(text)
  if (existing) return existing
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  names.set(text, name)
  return name
}

const { builtins, getTypeParser } = pg.types

/** Amounts are bigints: a number would lose digits. */
const parserOf = (type: number): Parse =>
  type === builtins.INT8 ? BigInt : (getTypeParser(type, 'text') as Parse)

/** The types of the driver leave it out. */
const { prepareValue } = (
  pg as unknown as { utils: { prepareValue(value: unknown): string | Buffer | null } }
).utils

/** Values are written in the protocol's form at once: one that cannot be written fails before it is sent. */
class Statement {
  text: string
  name: string
  readonly values: (string | Buffer | null)[]
  readonly rows: Row[] = []
  /** What PostgreSQL says that it has done, such as `COMMIT`. */
  tag = ''
  readonly #answer = Promise.withResolvers<Row[]>()
  #failure: unknown

  constructor(text: string, values: readonly unknown[]) {
    this.text = text
    // The driver keeps the names of statements that it has prepared itself.
    this.name = `pipeline ${nameOf(text)}`
    this.values = values.map(value => prepareValue(value))
  }

  get answered(): Promise<Row[]> {
    return this.#answer.promise
  }

  /** Columns are described the first time only. */
  write(connection: Connection, prepared: Map<string, Prepared>): void {
    const { name, text, values } = this
    const state = prepared.get(name)
    if (state === 'unsure') connection.close({ type: 'S', name }, true)
    if (state === undefined || state === 'unsure') {
      connection.parse({ name, text, types: [] }, true)
      prepared.set(name, 'sent')
    }
    connection.bind({ statement: name, values }, true)
    if (!Array.isArray(state)) connection.describe({ type: 'P', name: '' }, true)
    connection.execute({}, true)
  }

  addRow(columns: Columns, fields: readonly (string | null)[]): void {
    try {
      const row: Row = {}
      columns.forEach(({ name, parse }, n) => {
        const field = fields[n] ?? null
        row[name] = field === null ? null : parse(field)
      })
      this.rows.push(row)
    } catch (error) {
      this.#failure ??= error
    }
  }

  end(): void {
    if (this.#failure) this.fail(this.#failure)
    else this.#answer.resolve(this.rows)
  }

  fail(error: unknown): void {
    this.#answer.reject(error)
  }
}

/** A statement without values, whose text is chosen when it is sent. */
class Command extends Statement {
  readonly #choose: () => string

  constructor(choose: () => string) {
    super('', [])
    this.#choose = choose
  }

  override write(connection: Connection, prepared: Map<string, Prepared>): void {
    this.text = this.#choose()
    this.name = this.text
    super.write(connection, prepared)
  }
}

/**
 * Statements that are sent together and end with one `Sync`, as in the pipeline mode of libpq. The driver
 * ends each statement with a `Sync` of its own: PostgreSQL then sends as many packets, and each is received
 * by itself. After a failure PostgreSQL skips the rest of the pipeline, and all of it fails alike. The driver
 * calls the methods by the names of the messages, as it does for those of `pg-cursor`.
 */
class Pipeline implements Submittable {
  /** Set by the driver to end its time limit. */
  callback: ((error?: unknown) => void) | undefined
  readonly #statements: Statement[] = []
  #answered = 0
  #prepared = new Map<string, Prepared>()

  add(statement: Statement): void {
    this.#statements.push(statement)
  }

  submit = (connection: Connection): void => {
    this.#prepared = preparedStatementsOf(connection)
    const { stream } = connection
    stream.cork()
    for (const statement of this.#statements) statement.write(connection, this.#prepared)
    connection.sync()
    stream.uncork()
  }

  get #current(): Statement {
    return this.#statements[this.#answered] as Statement
  }

  handleRowDescription({
    fields,
  }: {
    readonly fields: readonly { name: string; dataTypeID: number }[]
  }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }))
    this.#prepared.set(this.#current.name, columns)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#current.addRow(this.#prepared.get(this.#current.name) as Columns, fields)
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const statement = this.#current
    if (!Array.isArray(this.#prepared.get(statement.name))) this.#prepared.set(statement.name, [])
    statement.tag = text
    this.#end()
  }

  handleEmptyQuery(): void {
    this.#end()
  }

  handleReadyForQuery(): void {
    this.callback?.()
  }

  handleError(error: unknown): void {
    for (const statement of this.#statements.slice(this.#answered)) {
      if (!Array.isArray(this.#prepared.get(statement.name))) this.#prepared.set(statement.name, 'unsure')
      statement.fail(error)
    }
    this.#answered = this.#statements.length
    this.callback?.(error)
  }

  #end(): void {
    this.#current.end()
    this.#answered++
  }
}

/** Pipelines of this turn of the event loop that have not been sent. */
const waiting = new WeakMap<PoolClient, Pipeline>()

/** Sends the waiting pipeline of a connection, before something else is sent there. */
export function sendPipeline(client: PoolClient): void {
  const pipeline = waiting.get(client)
  waiting.delete(client)
  if (pipeline) client.query(pipeline)
}

function queue(client: PoolClient, statement: Statement): void {
  const pipeline = waiting.get(client) ?? new Pipeline()
  pipeline.add(statement)
  if (waiting.has(client)) return
  waiting.set(client, pipeline)
  process.nextTick(() => sendPipeline(client))
}

/** Runs a prepared statement on a connection, together with the others of this turn of the event loop. */
export async function runInPipeline(
  client: PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const statement = new Statement(text, values)
  queue(client, statement)
  return statement.answered
}

/**
 * As `runInPipeline`, for a command, which is chosen when all that precedes it is known. Returns what PostgreSQL has done, as
 * the commit of a failed transaction rolls it back.
 */
export async function commandInPipeline(client: PoolClient, choose: () => string): Promise<string> {
  const statement = new Command(choose)
  queue(client, statement)
  await statement.answered
  return statement.tag
}

const isClient = (connection: Pool | PoolClient): connection is PoolClient => 'release' in connection

const types = { getTypeParser: parserOf } as pg.CustomTypesConfig

/** Runs a prepared statement at once and by itself, on a connection or on any of a pool: as the driver does it. */
export async function runPreparedStatement(
  connection: Pool | PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  if (isClient(connection)) sendPipeline(connection)
  const { rows } = await connection.query({ name: nameOf(text), text, values: [...values], types })
  return rows
}
