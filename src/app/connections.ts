import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { bodyDeadlineExtension } from '../derive/http/body-bytes.ts'
import { type IsProxy, parseForwardedAddress, trustedProxies } from '../derive/http/raw-request.ts'
import { refuseConnection } from '../derive/http/respond.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { clientAddressKey } from '../values/client-of.ts'
import { clock } from '../values/clock.ts'

export interface ConnectionLimits {
  /** For a request's headers from its first byte, and for the first byte on a new connection. */
  readonly headersMs: number
  /** For a body, from the end of its headers. Files have longer: see `extendBodyDeadline`. */
  readonly bodyMs: number
  readonly answerMs: number
  readonly idleMs: number
  readonly perAddress: number
  /** Our own proxies carry many clients, so their connections are not counted. */
  readonly isProxy: IsProxy
  readonly checkEveryMs: number
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
  isProxy: trustedProxies(trustProxy),
  checkEveryMs: 500,
})

const MAX_CONNECTIONS = 10_000

interface Exchange {
  readonly request: IncomingMessage
  readonly since: number
  isAnswered: boolean
  isTimedOut: boolean
}

interface Connection {
  readonly socket: Socket
  readonly exchanges: Set<Exchange>
  /** Waiting for a request since then, with this many bytes read by then. */
  waitsSince: number
  bytesRead: number
  isReused: boolean
  requestBegunAt: number | undefined
  /** The bytes that the client has yet to read, and since when that number has not changed. */
  unsent: string
  unsentSince: number
}

export interface OpenConnections {
  begin(request: IncomingMessage, response: ServerResponse): void
  count(): number
  stop(): void
}

/**
 * Ends connections that take too long and refuses those above the limit. Only time in which this process runs
 * counts: after a pause or under load it first reads what has arrived, and then ends connections.
 */
export function enforceConnectionLimits(server: Server, limits: ConnectionLimits): OpenConnections {
  const { checkEveryMs } = limits
  const open = new Map<Socket, Connection>()
  const admit = admission(limits)
  let runningMs = 0
  let checkedAt = clock.ticks()

  const checkAll = (): void => {
    const now = clock.ticks()
    runningMs += Math.min(now - checkedAt, 2 * checkEveryMs)
    checkedAt = now
    for (const connection of open.values()) check(connection, limits, runningMs)
  }
  // Node reads what has arrived between timers and immediates.
  const checking = setInterval(() => setImmediate(checkAll), checkEveryMs).unref()

  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (socket: Socket) => {
    if (!admit(socket)) return refuse(socket, 'TOO_MANY_CONNECTIONS')
    open.set(socket, newConnection(socket, runningMs))
    socket.once('close', () => open.delete(socket))
  })
  // Node only announces this timeout to clients: its own handling is off, as `check` ends idle connections.
  server.keepAliveTimeout = limits.idleMs
  server.on('timeout', () => undefined)

  return {
    begin(request, response) {
      const connection = open.get(request.socket)
      if (!connection) return
      const exchange = { request, since: runningMs, isAnswered: false, isTimedOut: false }
      connection.exchanges.add(exchange)
      connection.requestBegunAt = undefined
      response.once('close', () => {
        exchange.isAnswered = true
        if (request.complete) endExchange(connection, exchange, runningMs)
      })
    },
    count: () => open.size,
    stop: () => clearInterval(checking),
  }
}

const newConnection = (socket: Socket, now: number): Connection => ({
  socket,
  exchanges: new Set(),
  waitsSince: now,
  bytesRead: 0,
  isReused: false,
  requestBegunAt: undefined,
  unsent: '',
  unsentSince: now,
})

function admission({ perAddress, isProxy }: ConnectionLimits): (socket: Socket) => boolean {
  const counts = new Map<string, number>()
  return socket => {
    const address = parseForwardedAddress(socket.remoteAddress ?? '') ?? ''
    if (isProxy(address, 0)) return true
    const client = clientAddressKey(address)
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

function endExchange(connection: Connection, exchange: Exchange, now: number): void {
  connection.exchanges.delete(exchange)
  connection.waitsSince = now
  connection.bytesRead = connection.socket.bytesRead
  connection.isReused = true
}

function check(connection: Connection, limits: ConnectionLimits, now: number): void {
  if (isStuck(connection, limits, now)) return void connection.socket.destroy()
  for (const exchange of connection.exchanges) {
    if (!exchange.request.complete) checkBody(connection, exchange, limits, now)
    else if (exchange.isAnswered) endExchange(connection, exchange, now)
  }
  if (connection.exchanges.size === 0) checkWaiting(connection, limits, now)
}

function isStuck(connection: Connection, { answerMs }: ConnectionLimits, now: number): boolean {
  const { socket } = connection
  const unsent = socket.writableLength === 0 ? '' : `${socket.writableLength} ${queuedBytes(socket)}`
  if (unsent !== '' && unsent === connection.unsent) return now - connection.unsentSince > answerMs
  connection.unsent = unsent
  connection.unsentSince = now
  return false
}

/** The bytes in the system's queue: Node counts a large chunk as unwritten until all of it is sent. */
const queuedBytes = (socket: Socket): number | undefined =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize

/** The reader of a late body answers 408 on `timeout`; a connection without a reader is cut. */
function checkBody(
  { socket }: Connection,
  exchange: Exchange,
  { bodyMs, answerMs }: ConnectionLimits,
  now: number,
): void {
  const late = now - exchange.since - bodyMs - bodyDeadlineExtension(exchange.request)
  if (late <= 0) return
  const hasReader = !(exchange.isTimedOut || exchange.isAnswered) && exchange.request.emit('timeout')
  if (hasReader) exchange.isTimedOut = true
  else if (!exchange.isTimedOut || late > answerMs) socket.destroy()
}

function checkWaiting(connection: Connection, { headersMs, idleMs }: ConnectionLimits, now: number): void {
  const { socket, bytesRead, isReused, waitsSince } = connection
  if (socket.bytesRead > bytesRead) {
    connection.requestBegunAt ??= now
    if (now - connection.requestBegunAt > headersMs) refuse(socket, 'ERR_HTTP_REQUEST_TIMEOUT')
  } else if (now - waitsSince > (isReused ? idleMs : headersMs)) socket.destroy()
}
