import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { refuseConnection, refuseExpectation } from '../derive/http/respond.ts'
import { clock } from '../values/clock.ts'
import { type ConnectionLimits, watchConnections } from './connections.ts'

export interface ApiServer {
  /** Gives the port, which is a new one for 0. */
  listen(port: number, host: string): Promise<number>
  /** How many clients are connected. */
  connections(): number
  /** Takes leave of the clients, answers what they have sent, and stops. */
  close(): Promise<void>
}

/** A client that keeps its connection may have sent its next request just now: until none has come for so long. */
const SILENCE_MS = 250

export function apiServer(answer: RequestListener, limits: ConnectionLimits): ApiServer {
  const unanswered = new Set<ServerResponse>()
  let closing = false
  let lastHeard = 0
  // What Node would refuse by itself it would refuse without our headers, and by a clock that a stopped process misses.
  const options = { requireHostHeader: false, headersTimeout: 0, requestTimeout: 0 }
  const server = createServer(options, (request, response) => {
    lastHeard = clock.ticks()
    connections.begin(request, response)
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
    if (closing) takeLeave(response)
    answer(request, response)
  })
  const connections = watchConnections(server, limits)
  server.on('clientError', refuseConnection).on('checkExpectation', refuseExpectation)

  return {
    connections: connections.count,
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject).listen(port, host, () => {
          server.off('error', reject)
          const address = server.address()
          resolve(typeof address === 'object' && address ? address.port : port)
        })
      }),

    async close() {
      if (!server.listening) return
      closing = true
      lastHeard = clock.ticks()
      unanswered.forEach(takeLeave)
      const closed = once(server, 'close')
      // An HTTP server's own `close` also cuts silent connections, and with them a request that is just on its way.
      Server.prototype.close.call(server)
      while (clock.ticks() - lastHeard < SILENCE_MS) await sleep(SILENCE_MS / 5)
      server.closeIdleConnections()
      await closed
      connections.stop()
    },
  }
}

/** The client that keeps its connection learns with this answer that it is the last one. */
function takeLeave(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}
