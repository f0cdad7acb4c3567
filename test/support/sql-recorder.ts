import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll } from '@jest/globals'

export interface SqlRecorder {
  readonly url: string
  /** The texts of prepared statements, and of statements with inlined values. */
  readonly prepared: ReadonlySet<string>
  readonly simple: ReadonlySet<string>
  /**
   * How often a connection waited for an answer during measured work, except for credential and rate limit,
   * by the work's name.
   */
  readonly roundTrips: ReadonlyMap<string, number>
  /** The texts of the statements of measured work, by its name. */
  readonly statements: ReadonlyMap<string, ReadonlySet<string>>
  /** How many statements were sent so far. */
  count(): number
  measure<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** A proxy between the service and PostgreSQL that reads the protocol. */
export async function recordSql(databaseUrl: string): Promise<SqlRecorder> {
  const database = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const prepared = new Set<string>()
  const simple = new Set<string>()
  const measured = new Map<string, number>()
  const statements = new Map<string, ReadonlySet<string>>()
  let roundTrips = 0
  let executed = new Set<string>()
  let count = 0
  const server = createServer(client => {
    const upstream = connect(Number(database.port), database.hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('close', () => other.destroy()).on('error', () => undefined)
    }
    /** Statements that PostgreSQL has not answered yet. */
    let unanswered = 0
    let current = ''
    const textByName = new Map<string, string>()
    const readClient = messageReader({ startsWithType: false }, (type, [first = '', second = '']) => {
      if (type === 'P') {
        ;(COMMAND.test(second) ? simple : prepared).add(second)
        textByName.set(first, second)
      }
      if (type === 'Q') simple.add(first)
      if (type === 'B' || type === 'Q') current = type === 'B' ? (textByName.get(second) ?? '') : first
      if (type === 'B' || type === 'Q') {
        executed.add(current)
        count++
      }
      if (type !== 'S' && type !== 'Q') return
      if (unanswered === 0 && !UNCOUNTED.test(current)) roundTrips++
      unanswered++
    })
    const readDatabase = messageReader({ startsWithType: true }, type => {
      if (type === 'Z') unanswered = Math.max(0, unanswered - 1)
    })
    client.on('data', data => {
      readClient(data)
      upstream.write(data)
    })
    upstream.on('data', data => {
      readDatabase(data)
      client.write(data)
    })
  })
  const front = new URL(databaseUrl)
  front.port = String(await listen(server))
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise(resolve => server.close(resolve))
  })
  return {
    url: front.href,
    prepared,
    simple,
    roundTrips: measured,
    statements,
    count: () => count,
    async measure(name, work) {
      const before = roundTrips
      executed = new Set()
      const result = await work()
      measured.set(name, roundTrips - before)
      statements.set(name, executed)
      executed = new Set()
      return result
    },
  }
}

/**
 * Statements that do not belong to an operation: notifications, which follow the answer; the counter of an
 * address's requests; credential look-ups, cached for 90 ms; the signing keys, read every other second; and
 * the journal's reader with its lease, which serves all streams of the process.
 */
const UNCOUNTED =
  /^notify |pg_notify\(channel|\brate_limits\b|\bs\.hash = \$1|^\nselect kid, x,|_leases\b|^delete from event_streams|pg_snapshot_xip/

/** Prepared, too, though no plan is made for them. */
const COMMAND = /^(begin|commit|rollback|set local)\b/

const LENGTH_BYTES = 4

/** Splits a stream into PostgreSQL's messages. Only a client's first message, the start-up, has no type. */
function messageReader(
  { startsWithType }: { readonly startsWithType: boolean },
  onMessage: (type: string, strings: readonly string[]) => void,
): (data: Buffer) => void {
  let rest = Buffer.alloc(0)
  let hasType = startsWithType
  return data => {
    rest = Buffer.concat([rest, data])
    for (;;) {
      const typeBytes = hasType ? 1 : 0
      if (rest.length < typeBytes + LENGTH_BYTES) return
      const end = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < end) return
      const type = hasType ? String.fromCharCode(rest[0] as number) : ''
      onMessage(
        type,
        'PBQ'.includes(type) ? rest.toString('utf8', typeBytes + LENGTH_BYTES, end).split('\0') : [],
      )
      rest = rest.subarray(end)
      hasType = true
    }
  }
}

function listen(server: Server): Promise<number> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}
