import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressIn, clientOf, type IsProxy, proxies } from '../derive/http/client-address.ts'
import { refuseConnection } from '../derive/http/respond.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { clock } from '../values/clock.ts'

/** How long clients may take, in milliseconds, and how many connections one may have. */
export interface ConnectionLimits {
  /** For the headers of a request, from its first byte on; and for that byte on a new connection. */
  readonly headersMs: number
  /** For a body, from its headers on. */
  readonly bodyMs: number
  /** Without taking anything of the answer that waits for it. */
  readonly answerMs: number
  /** Between two requests. */
  readonly idleMs: number
  readonly perAddress: number
  /** A proxy of ours brings the clients of everybody. */
  readonly isProxy: IsProxy
  /** How often all connections are looked at. */
  readonly everyMs: number
}

export const connectionLimits = ({
  keepAliveSeconds,
  connectionsPerAddress,
  trustProxy,
}: Pick<Settings, 'keepAliveSeconds' | 'connectionsPerAddress' | 'trustProxy'>): ConnectionLimits => ({
  headersMs: 10_000,
  bodyMs: 30_000,
  answerMs: 30_000,
  idleMs: keepAliveSeconds * 1_000,
  perAddress: connectionsPerAddress,
  isProxy: proxies(trustProxy),
  everyMs: 500,
})

/** Connections of one process. */
const MOST = 10_000

interface Exchange {
  readonly request: IncomingMessage
  readonly since: number
  isAnswered: boolean
  isToldOff: boolean
}

interface Connection {
  readonly socket: Socket
  readonly exchanges: Set<Exchange>
  /** Since when it waits for a request, and how many bytes had come by then. */
  waitsSince: number
  bytesRead: number
  isKept: boolean
  /** When the first bytes of the next request were seen. */
  begunAt: number | undefined
  /** What the client has still to take, and since when it is the same. */
  untaken: string
  untakenSince: number
}

export interface Connections {
  /** For each request, before it is answered. */
  begin(request: IncomingMessage, response: ServerResponse): void
  count(): number
  stop(): void
}

/**
 * Ends connections that take too long, and refuses those that are too many. Time counts only while this process runs:
 * one that was stopped, or had its hands full, reads what came meanwhile before it judges anybody.
 */
export function watchConnections(server: Server, limits: ConnectionLimits): Connections {
  const { everyMs } = limits
  const open = new Map<Socket, Connection>()
  const admit = admission(limits)
  let ran = 0
  let lookedAt = clock.ticks()

  const looking = setInterval(() => {
    const now = clock.ticks()
    ran += Math.min(now - lookedAt, 2 * everyMs)
    lookedAt = now
    for (const connection of open.values()) judge(connection, limits, ran)
  }, everyMs).unref()

  server.maxConnections = MOST
  server.on('connection', (socket: Socket) => {
    if (!admit(socket)) return refuse(socket, 'TOO_MANY_CONNECTIONS')
    open.set(socket, fresh(socket, ran))
    socket.once('close', () => open.delete(socket))
  })
  // Node tells clients how long it keeps an idle connection; it is ended here, by the time that counts.
  server.keepAliveTimeout = limits.idleMs
  server.on('timeout', () => undefined)

  return {
    begin(request, response) {
      const connection = open.get(request.socket)
      if (!connection) return
      const exchange = { request, since: ran, isAnswered: false, isToldOff: false }
      connection.exchanges.add(exchange)
      connection.begunAt = undefined
      response.once('close', () => {
        exchange.isAnswered = true
        if (request.complete) end(connection, exchange, ran)
      })
    },
    count: () => open.size,
    stop: () => clearInterval(looking),
  }
}

const fresh = (socket: Socket, now: number): Connection => ({
  ...{ socket, exchanges: new Set(), waitsSince: now, bytesRead: 0, isKept: false, begunAt: undefined },
  ...{ untaken: '', untakenSince: now },
})

/** Counts the connections of each client; false for one more than it may have. */
function admission({ perAddress, isProxy }: ConnectionLimits): (socket: Socket) => boolean {
  const counts = new Map<string, number>()
  return socket => {
    const address = addressIn(socket.remoteAddress ?? '') ?? ''
    if (isProxy(address, 0)) return true
    const client = clientOf(address)
    const count = (counts.get(client) ?? 0) + 1
    if (count > perAddress) return false
    counts.set(client, count)
    socket.once('close', () => {
      const left = (counts.get(client) ?? 1) - 1
      if (left === 0) counts.delete(client)
      else counts.set(client, left)
    })
    return true
  }
}

function refuse(socket: Socket, code: string): void {
  refuseConnection(Object.assign(new Error(code), { code }), socket)
  socket.destroySoon()
}

function end(connection: Connection, exchange: Exchange, now: number): void {
  connection.exchanges.delete(exchange)
  connection.waitsSince = now
  connection.bytesRead = connection.socket.bytesRead
  connection.isKept = true
}

function judge(connection: Connection, limits: ConnectionLimits, now: number): void {
  if (isStuck(connection, limits, now)) return void connection.socket.destroy()
  for (const exchange of connection.exchanges) {
    if (!exchange.request.complete) judgeBody(connection, exchange, limits, now)
    else if (exchange.isAnswered) end(connection, exchange, now)
  }
  if (connection.exchanges.size === 0) judgeWaiting(connection, limits, now)
}

/** Whether the client has left its answer lying for too long. */
function isStuck(connection: Connection, { answerMs }: ConnectionLimits, now: number): boolean {
  const { socket } = connection
  const untaken = socket.writableLength === 0 ? '' : `${socket.writableLength} ${inSystem(socket)}`
  if (untaken !== '' && untaken === connection.untaken) return now - connection.untakenSince > answerMs
  connection.untaken = untaken
  connection.untakenSince = now
  return false
}

/** Of one large piece Node counts nothing as written until it is gone entirely; its handle knows better. */
const inSystem = (socket: Socket): number | undefined =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize

/** Whoever reads the body answers; where nobody does, there is nothing to say. */
function judgeBody(
  { socket }: Connection,
  exchange: Exchange,
  { bodyMs, answerMs }: ConnectionLimits,
  now: number,
): void {
  const late = now - exchange.since - bodyMs
  if (late <= 0) return
  const isHeard = !(exchange.isToldOff || exchange.isAnswered) && exchange.request.emit('timeout')
  if (isHeard) exchange.isToldOff = true
  else if (!exchange.isToldOff || late > answerMs) socket.destroy()
}

function judgeWaiting(connection: Connection, { headersMs, idleMs }: ConnectionLimits, now: number): void {
  const { socket, bytesRead, isKept, waitsSince } = connection
  if (socket.bytesRead > bytesRead) {
    connection.begunAt ??= now
    if (now - connection.begunAt > headersMs) refuse(socket, 'ERR_HTTP_REQUEST_TIMEOUT')
  } else if (now - waitsSince > (isKept ? idleMs : headersMs)) socket.destroy()
}
