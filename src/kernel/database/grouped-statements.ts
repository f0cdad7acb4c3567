import pg, { type PoolClient, type QueryConfig, type QueryResult } from 'pg'

type PreparedQuery = QueryConfig & { readonly name: string; readonly values: unknown[] }

/** What the driver has, and its types do not name. */
interface Connection {
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
  parse(statement: Pick<PreparedQuery, 'text' | 'name'>): void
  bind(statement: object): void
  describe(portal: object): void
  execute(portal: object): void
  query(text: string): void
  sync(): void
  emit(event: 'readyForQuery' | 'errorMessage', message: unknown): boolean
}

/** The columns of the rows that a prepared statement gives, and how they are read: PostgreSQL refuses to change them. */
interface Shape {
  readonly fields: unknown
  readonly _parsers: unknown
  readonly _prebuiltEmptyResultObject: unknown
}

interface DriverQuery extends PreparedQuery {
  readonly _result: Shape
  _accumulateRows: boolean
  callback: (error: unknown, result: QueryResult) => void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleError(error: unknown, connection: Connection): void
}

const { Query, utils } = pg as unknown as {
  readonly Query: new (query: PreparedQuery) => DriverQuery
  readonly utils: { prepareValue(value: unknown): unknown }
}

/** What a connection is about to send, and what it knows of its prepared statements. */
class Line {
  readonly shapes = new Map<string, Shape>()
  readonly #connection: Connection
  #group: GroupedStatement[] = []

  readonly parse: Connection['parse']
  readonly bind: Connection['bind']

  /** `begin`, `commit`, and whatever the driver sends in its own way, belong to no group: the one before them ends first. */
  constructor(connection: Connection) {
    this.#connection = connection
    this.parse = connection.parse.bind(connection)
    this.bind = connection.bind.bind(connection)
    for (const way of ['query', 'parse', 'bind'] as const) {
      const send = connection[way].bind(connection) as (message: never) => void
      connection[way] = (message: unknown) => {
        this.#end()
        send(message as never)
      }
    }
  }

  /** Adds a statement to the others of this turn of the event loop. */
  join(statement: GroupedStatement): readonly GroupedStatement[] {
    if (this.#group.push(statement) === 1) process.nextTick(() => this.#end())
    return this.#group
  }

  #end(): void {
    if (this.#group.length === 0) return
    this.#group = []
    this.#connection.sync()
  }
}

const lines = new WeakMap<Connection, Line>()

function lineOf(connection: Connection): Line {
  const line = lines.get(connection) ?? new Line(connection)
  lines.set(connection, line)
  return line
}

/**
 * A prepared statement that is answered together with the others of its turn of the event loop. The driver asks for an end
 * after each: PostgreSQL then sends as many packets, and each is received by itself. After a failure PostgreSQL leaves out
 * what is behind it in the group: all of that fails alike.
 */
class GroupedStatement extends Query {
  #group: readonly GroupedStatement[] = []

  /** Writes the statement, in place of the driver's own way. Its rows are described the first time only. */
  prepare(connection: Connection): void {
    const { name, text, values } = this
    const line = lineOf(connection)
    this.#group = line.join(this)
    if (!connection.parsedStatements[name] && !connection.submittedNamedStatements[name]) {
      line.parse({ text, name })
      connection.submittedNamedStatements[name] = text
    }
    line.bind({ portal: '', statement: name, values })
    const shape = line.shapes.get(name)
    if (shape) Object.assign(this._result, shape)
    else connection.describe({ type: 'P', name: '' })
    this._accumulateRows = true
    connection.execute({})
  }

  get #isLast(): boolean {
    return this.#group.at(-1) === this
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    super.handleCommandComplete(message, connection)
    const { shapes } = lineOf(connection)
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    if (!shapes.has(this.name)) shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
    // A group has one end, and the driver waits for that of each statement.
    if (!this.#isLast) connection.emit('readyForQuery', { status: 'T' })
  }

  override handleError(error: unknown, connection: Connection): void {
    super.handleError(error, connection)
    // Only PostgreSQL's own refusal ends the group: another failure is that of this statement, or of the connection.
    if (this.#isLast || !(error instanceof pg.DatabaseError)) return
    connection.emit('readyForQuery', { status: 'E' })
    connection.emit('errorMessage', error)
  }
}

/** Runs a prepared statement on a connection that is nobody else's meanwhile. */
export const runGrouped = (client: PoolClient, query: PreparedQuery): Promise<QueryResult> =>
  new Promise((resolve, reject) => {
    // Before the driver has anything of it: values that cannot be written are a failure of this statement alone.
    const values = query.values.map(value => utils.prepareValue(value))
    const statement = new GroupedStatement({ ...query, values })
    statement.callback = (error, result) => (error ? reject(error) : resolve(result))
    client.query(statement as never)
  })
