import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly deliveryId: string
  readonly event: string
}

/** The treatment of the nth request to a path, counted from 0: an answer or a failure. */
export type Behavior = (response: ServerResponse, n: number, received: ReceivedRequest) => void

export interface Receiver {
  readonly url: string
  at(path?: string): ReceivedRequest[]
  treat(path: string, behavior: Behavior): void
}

interface OpenReceiver extends Receiver {
  close(): void
}

export const respondWith =
  (status: number, body = '', headers: Record<string, string> = {}): Behavior =>
  response =>
    void response.writeHead(status, headers).end(body)

/** A receiver of webhooks that answers 204 unless its user sets another behaviour. */
export async function openReceiver(): Promise<OpenReceiver> {
  const all: ReceivedRequest[] = []
  const byPath = new Map<string, ReceivedRequest[]>()
  const behaviors = new Map<string, Behavior>()
  const server = createServer((request, response) => {
    void read(request).then(received => {
      const { path } = received
      const before = byPath.get(path) ?? []
      const n = before.length
      byPath.set(path, before)
      before.push(received)
      all.push(received)
      const behavior = behaviors.get(path) ?? respondWith(204)
      behavior(response, n, received)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    at: path => [...(path === undefined ? all : (byPath.get(path) ?? []))],
    treat: (path, behavior) => void behaviors.set(path, behavior),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
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
