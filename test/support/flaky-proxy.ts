import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { constants, gunzipSync } from 'node:zlib'
import { afterAll } from '@jest/globals'
import { lastingPort } from './processes/lasting-port.ts'

/** When a connection is lost: before PostgreSQL receives the commit, while it commits, or before its answer arrives. */
export type CutTime = 'before' | 'during' | 'after'

export interface FlakyProxy {
  readonly url: string
  /** The next `count` commits lose their connection at this moment. */
  cutCommits(cut: CutTime, count?: number): void
  /** Forwards nothing to the client once it has sent this text; resolves at that moment. */
  silenceAfter(text: string): Promise<void>
  /** Forwards nothing more to the client of the connection that the server sees at this port. */
  silence(port: number): void
  cutAll(): void
  /** From now on connections go to another server. */
  leadTo(url: string): void
  close(): Promise<void>
  open(): Promise<void>
}

/** A proxy before PostgreSQL or Temporal that loses connections on demand. */
export async function flakyProxy(databaseUrl: string): Promise<FlakyProxy> {
  let target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const cuts: CutTime[] = []
  const silenced = new Set<number | undefined>()
  let silence: { readonly text: string; readonly begins: () => void } | undefined
  const server = createServer(client => {
    const database = connect(Number(target.port), target.hostname)
    for (const socket of [client, database]) track(socket, sockets)
    const cut = () => destroy([client, database])
    let losing: CutTime | undefined
    let silent = false
    // A commit in progress is not disturbed.
    client.on('close', () => losing === 'during' || database.destroy())
    database.on('close', () => client.destroy())
    client.on('data', data => {
      losing ??= isCommit(data) ? cuts.shift() : undefined
      if (losing === 'before') return cut()
      database.write(data)
      if (losing === 'during') client.destroy()
      if (!silence || !legible(data).includes(silence.text)) return
      silent = true
      silence.begins()
      silence = undefined
    })
    database.on('data', data => {
      if (losing && isCommitted(data)) return cut()
      if (!silent && !silenced.has(database.localPort) && !client.destroyed) client.write(data)
    })
  })
  const front = new URL(databaseUrl)
  const open = () => listen(server, Number(front.port))
  front.port = String(await lastingPort())
  await open()
  const cutAll = () => destroy(sockets)
  const close = async () => {
    const closed = new Promise(resolve => server.close(resolve))
    cutAll()
    await closed
  }
  afterAll(close)
  return {
    url: front.href,
    cutCommits: (cut, count = 1) => void cuts.push(...Array<CutTime>(count).fill(cut)),
    silenceAfter: text =>
      new Promise(begins => {
        silence = { text, begins }
      }),
    silence: port => void silenced.add(port),
    cutAll,
    leadTo(url) {
      target = new URL(url)
    },
    close,
    open,
  }
}

/** Whether one of the messages commits: a query with that text, or the use of the statement that is prepared by that name. */
const isCommit = (data: Buffer): boolean => /(?:Q....|B....\0)commit\0/is.test(data.toString('latin1'))

/** Whether PostgreSQL says that a transaction has ended. */
const isCommitted = (data: Buffer): boolean => /C....(COMMIT|ROLLBACK)\0/s.test(data.toString('latin1'))

const GZIP = Buffer.from([0x1f, 0x8b, 8])

/** The text of a message: a worker compresses each message to Temporal. */
function legible(data: Buffer): string {
  const at = data.indexOf(GZIP)
  if (at === -1) return data.toString('latin1')
  const next = data.subarray(at)
  const message = gunzipSync(next, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1')
  return data.toString('latin1', 0, at) + message + legible(next.subarray(GZIP.length))
}

function destroy(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
}

async function listen(server: Server, port: number): Promise<void> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
}
