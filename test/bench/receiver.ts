import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { printLine } from '../../src/platform/output.ts'

/** The requests since the last reset: their number, the first and the last instant, and the milliseconds since their events. */
export interface ReceivedCounts {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly latencies: readonly number[]
}

let latencies: number[] = []
let count = 0
let firstAt = 0
let lastAt = 0

/** The instant in the body, `sent-…`, or the event's own. */
const sentAt = (body: string): number =>
  Number(/sent-(\d{13})/.exec(body)?.[1]) || Date.parse(JSON.parse(body).createdAt)

/**
 * A receiver that accepts everything and times the requests to `/late`. GET returns the numbers, and resets them
 * unless it asks for `/peek`.
 */
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, firstAt, lastAt, latencies } satisfies ReceivedCounts))
    if (request.url === '/peek') return
    latencies = []
    count = 0
    return
  }
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    lastAt = Date.now()
    if (count++ === 0) firstAt = lastAt
    if (request.url === '/late') latencies.push(lastAt - sentAt(Buffer.concat(chunks).toString()))
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () =>
  printLine(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
