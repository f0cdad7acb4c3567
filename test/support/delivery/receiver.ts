import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'

/** A request as a receiver of webhooks gets it. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly deliveryId: string
  readonly event: string
}

/** What a receiver does with the nth request to a path, the first being 0: answers, or something worse. */
export type Manner = (response: ServerResponse, n: number, received: Received) => void

export interface Receiver {
  readonly url: string
  /** The requests so far, all of them or those to a path. */
  at(path?: string): Received[]
  /** Sets how requests to this path are answered from now on. */
  treat(path: string, manner: Manner): void
}

/** Answers with this status, and with an empty body by default. */
export const answering =
  (status: number, body = '', headers: Record<string, string> = {}): Manner =>
  response =>
    void response.writeHead(status, headers).end(body)

/** A receiver of webhooks; it takes everything unless a test sets another answer. */
export async function startReceiver(): Promise<Receiver> {
  const all: Received[] = []
  const byPath = new Map<string, Received[]>()
  const manners = new Map<string, Manner>()
  const server = createServer((request, response) => {
    void read(request).then(received => {
      const { path } = received
      const before = byPath.get(path) ?? []
      const n = before.length
      byPath.set(path, before)
      before.push(received)
      all.push(received)
      const manner = manners.get(path) ?? answering(204)
      manner(response, n, received)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    at: path => [...(path === undefined ? all : (byPath.get(path) ?? []))],
    treat: (path, manner) => void manners.set(path, manner),
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const headers = request.headers as Record<string, string>
  return {
    path: request.url ?? '',
    headers,
    body: Buffer.concat(chunks).toString(),
    deliveryId: headers['x-service-delivery-id'] ?? '',
    event: headers['x-service-event'] ?? '',
  }
}
