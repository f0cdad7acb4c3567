import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { refuseConnection, refuseExpectation } from '../derive/http/respond.ts'
import { clock } from '../values/clock.ts'
import { type ConnectionLimits, enforceConnectionLimits } from './connections.ts'

export interface ApiServer {
  listen(port: number, host: string): Promise<Pick<AddressInfo, 'address' | 'port'>>
  connections(): number
  close(): Promise<void>
}

/** Closing waits until no request has arrived for this long: one may be on its way on a kept connection. */
const SILENCE_MS = 250

export function apiServer(answer: RequestListener, limits: ConnectionLimits): ApiServer {
  const unanswered = new Set<ServerResponse>()
  let isClosing = false
  let lastRequestAt = 0
  // Node's own checks are off: they answer without our headers, and their time runs on while the process is
  // stopped.
  const options = { requireHostHeader: false, headersTimeout: 0, requestTimeout: 0 }
  const server = createServer(options, (request, response) => {
    lastRequestAt = clock.ticks()
    connections.begin(request, response)
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
    if (isClosing) askToClose(response)
    answer(request, response)
  })
  const connections = enforceConnectionLimits(server, limits)
  server.on('clientError', refuseConnection).on('checkExpectation', refuseExpectation)
  const other = createSocketServer({ allowHalfOpen: true, noDelay: true }, socket =>
    server.emit('connection', socket),
  )

  return {
    connections: connections.count,
    async listen(port, host) {
      if (host !== LOCALHOST) return listenAt(server, port, host)
      const at = await listenAt(server, port, '127.0.0.1')
      try {
        await listenAt(other, at.port, '::1')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
          server.close()
          throw error
        }
      }
      return { address: LOCALHOST, port: at.port }
    },

    async close() {
      if (!server.listening) return
      isClosing = true
      lastRequestAt = clock.ticks()
      unanswered.forEach(askToClose)
      const closed = Promise.all([once(server, 'close'), ended(other)])
      // `http.Server.close` also cuts idle connections, and with them a request that is just arriving.
      Server.prototype.close.call(server)
      while (clock.ticks() - lastRequestAt < SILENCE_MS) await sleep(SILENCE_MS / 5)
      server.closeIdleConnections()
      await closed
      connections.stop()
    },
  }
}

/** Programs differ in which of its two addresses they try. A machine may lack the second one. */
const LOCALHOST = 'localhost'

const listenAt = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })

const ended = (server: Server): Promise<unknown> =>
  server.listening ? once(server.close(), 'close') : Promise.resolve()

function askToClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}
