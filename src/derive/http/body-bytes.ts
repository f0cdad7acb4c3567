import type { IncomingMessage } from 'node:http'
import { formatKiB } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'

const FIRST_ROOM = 4_096
const PIECES_A_TURN = 4_000

export type ReserveMemory = (bytes: number) => Promise<() => void>

/** Node has already refused requests with contradictory headers. */
export const hasRequestBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || declaredBodyLength(headers) > 0

const tooLarge = (limit: number): Problem =>
  new Problem(
    'body_too_large',
    `The body is larger than ${formatKiB(limit)}, the maximum for this operation.`,
  )

export const declaredBodyLength = (headers: IncomingMessage['headers']): number =>
  Number(headers['content-length'] ?? 0)

/** A returned promise pauses the body until it resolves. */
interface BodySink {
  add(piece: Buffer): Promise<void> | undefined
}

/**
 * Reads the complete body. A body that breaks off is a Problem, never an empty body: the caller's intention
 * is unknown, so nothing may be done.
 */
export async function readRequestBody(
  request: IncomingMessage,
  limit: number,
  room: ReserveMemory,
): Promise<Buffer> {
  if (!hasRequestBody(request)) return Buffer.alloc(0)
  checkBodyHeaders(request, limit)
  const giveBack = await room(declaredBodyLength(request.headers) || limit)
  const body = growing(Math.min(declaredBodyLength(request.headers) || FIRST_ROOM, limit))
  await streamRequestBody(request, limit, body).finally(giveBack)
  return body.bytes()
}

export function checkBodyHeaders({ headers }: IncomingMessage, limit: number): void {
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type')
  if (declaredBodyLength(headers) > limit) throw tooLarge(limit)
}

/** Passes the chunks of a body to the sink as they arrive. Resolves to the length once the body is complete. */
export function streamRequestBody(request: IncomingMessage, limit: number, body: BodySink): Promise<number> {
  return new Promise((resolve, reject) => {
    const giveTurn = turnGiver(request)
    let isRefused = false
    let length = 0
    let isBehind: Promise<void> | undefined
    const refuse = (problem: unknown) => {
      // Reads and drops the rest, so that the connection can serve the next request.
      isRefused = true
      request.resume()
      reject(problem)
    }
    const take = (piece: Buffer) => {
      giveTurn()
      if (isRefused) return
      length += piece.length
      if (length > limit) return refuse(tooLarge(limit))
      isBehind = body.add(piece)
      if (!isBehind) return
      request.pause()
      isBehind.then(() => request.resume(), refuse)
    }
    const breakOff = () => refuse(new Problem('body_incomplete'))
    const giveUp = () => refuse(new Problem('body_too_slow', undefined, { Connection: 'close' }))
    const finish = () => {
      request.off('close', breakOff)
      if (!request.complete) return breakOff()
      // The end may arrive while the last chunk still waits for memory.
      if (isBehind === undefined) resolve(length)
      else isBehind.then(() => resolve(length), refuse)
    }
    // A destroyed request emits no further events.
    if (request.destroyed) return breakOff()
    request.on('error', breakOff).on('close', breakOff).on('timeout', giveUp)
    request.on('data', take).on('end', finish)
  })
}

interface Handle {
  readonly reading: boolean
  readStart(): void
  readStop(): void
}

/**
 * Yields to other requests after many chunks. Otherwise a body in chunks of one byte would be read by
 * hundreds of thousands at once, because Node stops only when chunks are not consumed.
 */
function turnGiver({ socket }: IncomingMessage): () => void {
  let pieces = 0
  return () => {
    if (++pieces % PIECES_A_TURN > 0) return
    const { _handle: handle } = socket as { _handle?: Handle | null }
    handle?.readStop()
    setImmediate(() => {
      // The request may have been destroyed, or Node may have paused it.
      if (!socket.destroyed && handle?.reading) handle.readStart()
    })
  }
}

/**
 * One buffer that doubles. For a body that arrives byte by byte, single chunks would cost a hundred times its
 * length.
 */
function growing(room: number) {
  let memory = Buffer.allocUnsafe(room)
  let length = 0
  return {
    bytes: () => memory.subarray(0, length),
    add(piece: Buffer) {
      if (length + piece.length > memory.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * memory.length, length + piece.length))
        memory.copy(larger, 0, 0, length)
        memory = larger
      }
      piece.copy(memory, length)
      length += piece.length
      return undefined
    },
  }
}

/** A slow mobile connection, which sends one megabit a second. */
const SLOWEST_BYTES_A_MS = 125

const granted = new WeakMap<IncomingMessage, number>()

/** Extends the deadline of a large body for a slow line, once it is being read. */
export function extendBodyDeadline(request: IncomingMessage, bytes: number): void {
  granted.set(request, bytes / SLOWEST_BYTES_A_MS)
}

export const bodyDeadlineExtension = (request: IncomingMessage): number => granted.get(request) ?? 0
