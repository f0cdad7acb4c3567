import type { IncomingMessage } from 'node:http'
import { Problem } from '../../kernel/contract/problem.ts'

/** What one connection buffers anyway: bodies up to this length take no room of their own. */
const SMALL = 65_536
/** The share of all room that one client can have. */
const SHARE = 1 / 8

/** Memory for the large bodies that are on their way, in one process. */
export interface BodyRoom {
  /** Waits until there is room for so many bytes, unread meanwhile; what it gives gives them back. */
  take(request: IncomingMessage, client: string, bytes: number): Promise<() => void>
  /** How many bytes are taken. */
  taken(): number
}

interface Waiting {
  readonly client: string
  readonly bytes: number
  readonly enter: () => void
}

/** So many bytes for all, of which one client has an eighth at most: who sends slowly holds up nobody but itself. */
export function bodyRoom(most: number): BodyRoom {
  const byClient = new Map<string, number>()
  const queue = new Set<Waiting>()
  let taken = 0

  const ofClient = (client: string): number => byClient.get(client) ?? 0
  // A share is never too small for the one body that is asked about.
  const hasShare = ({ client, bytes }: Waiting) =>
    ofClient(client) === 0 || ofClient(client) + bytes <= most * SHARE
  const hasRoom = ({ bytes }: Waiting) => taken === 0 || taken + bytes <= most

  function add(client: string, bytes: number): void {
    taken += bytes
    const left = ofClient(client) + bytes
    if (left === 0) byClient.delete(client)
    else byClient.set(client, left)
  }

  /** In the order in which they came, leaving out those whose share is full. */
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
    taken: () => taken,
    take(request, client, bytes) {
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
