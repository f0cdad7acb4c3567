import type { IncomingMessage } from 'node:http'
import { Problem } from '../../kernel/contract/problem.ts'

/** A connection buffers this much in any case, so smaller bodies need no reservation. */
const SMALL = 65_536
const SHARE = 1 / 8

export interface BodyMemory {
  /** Waits for memory while the body stays unread. Returns the function that releases the memory. */
  reserve(request: IncomingMessage, client: string, bytes: number): Promise<() => void>
  reservedBytes(): number
}

interface Waiting {
  readonly client: string
  readonly bytes: number
  readonly enter: () => void
}

/** One client may reserve an eighth at most, so that a slow sender delays only itself. */
export function bodyMemory(most: number): BodyMemory {
  const byClient = new Map<string, number>()
  const queue = new Set<Waiting>()
  let taken = 0

  const ofClient = (client: string): number => byClient.get(client) ?? 0
  // A single body always fits into the share of its client.
  const hasShare = ({ client, bytes }: Waiting) =>
    ofClient(client) === 0 || ofClient(client) + bytes <= most * SHARE
  const hasRoom = ({ bytes }: Waiting) => taken === 0 || taken + bytes <= most

  function add(client: string, bytes: number): void {
    taken += bytes
    const left = ofClient(client) + bytes
    if (left === 0) byClient.delete(client)
    else byClient.set(client, left)
  }

  /** Admits in order of arrival, and skips clients whose share is full. */
  function letIn(): void {
    for (const one of queue) {
      if (!hasShare(one)) continue
      if (!hasRoom(one)) return
      queue.delete(one)
      add(one.client, one.bytes)
      one.enter()
    }
  }

  return {
    reservedBytes: () => taken,
    reserve(request, client, bytes) {
      if (bytes <= SMALL) return Promise.resolve(nothing)
      return new Promise((resolve, reject) => {
        const leave = (problem: Problem) => {
          queue.delete(waiting)
          reject(problem)
        }
        const give = () => {
          add(client, -bytes)
          letIn()
        }
        const onClose = () => leave(new Problem('body_incomplete'))
        const onTimeout = () =>
          leave(new Problem('overloaded', undefined, { 'Retry-After': '5', Connection: 'close' }))
        const enter = () => {
          request.off('close', onClose).off('timeout', onTimeout)
          resolve(give)
        }
        const waiting = { client, bytes, enter }
        if (request.destroyed) return onClose()
        request.on('close', onClose).on('timeout', onTimeout)
        queue.add(waiting)
        letIn()
      })
    },
  }
}

function nothing(): void {}
