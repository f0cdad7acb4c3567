import type { IncomingMessage } from 'node:http'
import { inKiB } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'

/** The first buffer for a body without `Content-Length`. */
const FIRST_ROOM = 4_096
/** How many chunks are read before yielding to the event loop. */
const PIECES_A_TURN = 4_000

/** Reserves memory and gives the function that releases it. */
export type TakeRoom = (bytes: number) => Promise<() => void>

/** Whether a body follows the headers. Node has refused requests with contradictory headers by then. */
export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || announcedLength(headers) > 0

const tooLarge = (limit: number): Problem =>
  new Problem(
    'body_too_large',
    `The body is larger than ${inKiB(limit)}, the most that this operation takes.`,
  )

const announcedLength = (headers: IncomingMessage['headers']): number =>
  Number(headers['content-length'] ?? 0)

/**
 * The bytes of a body, once it has come whole. A body that was announced and breaks off is a Problem, never an empty
 * one: what the caller meant is not known, so nothing may be done.
 */
export async function readBytes(request: IncomingMessage, limit: number, room: TakeRoom): Promise<Buffer> {
  if (!announcesBody(request)) return Buffer.alloc(0)
  const { headers } = request
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type')
  if (announcedLength(headers) > limit) throw tooLarge(limit)
  const giveBack = await room(announcedLength(headers) || limit)
  return collect(request, limit).finally(giveBack)
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = growing(Math.min(announcedLength(request.headers) || FIRST_ROOM, limit))
    const giveTurn = turnGiver(request)
    let isRefused = false
    const refuse = (problem: Problem) => {
      // The rest is read and dropped, so that the connection can serve the next request.
      isRefused = true
      request.resume()
      reject(problem)
    }
    const take = (piece: Buffer) => {
      giveTurn()
      if (isRefused) return
      if (body.length() + piece.length > limit) refuse(tooLarge(limit))
      else body.add(piece)
    }
    const breakOff = () => refuse(new Problem('body_incomplete'))
    const giveUp = () => refuse(new Problem('body_too_slow', undefined, { Connection: 'close' }))
    const finish = () => {
      request.off('close', breakOff)
      if (request.complete) resolve(body.bytes())
      else breakOff()
    }
    // A request that has been destroyed emits no further events.
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
 * Called for each piece: after many of them others have their turn. A body of chunks of one byte would otherwise be
 * read by hundreds of thousands at once, for Node stops only where nobody takes them.
 */
function turnGiver({ socket }: IncomingMessage): () => void {
  let pieces = 0
  return () => {
    if (++pieces % PIECES_A_TURN > 0) return
    const { _handle: handle } = socket as { _handle?: Handle | null }
    handle?.readStop()
    setImmediate(() => {
      // The request was destroyed, or Node has paused it.
      if (!socket.destroyed && handle?.reading) handle.readStart()
    })
  }
}

/** One piece of memory that doubles: a body that comes byte by byte would cost a hundred times its length in pieces. */
function growing(room: number) {
  let memory = Buffer.allocUnsafe(room)
  let length = 0
  return {
    length: () => length,
    bytes: () => memory.subarray(0, length),
    add(piece: Buffer) {
      if (length + piece.length > memory.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * memory.length, length + piece.length))
        memory.copy(larger, 0, 0, length)
        memory = larger
      }
      piece.copy(memory, length)
      length += piece.length
    },
  }
}
