import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { printLine } from '../../src/platform/output.ts'

/** The requests since the last query: their number, and the milliseconds since the events they report. */
export interface ReceivedCounts {
  readonly count: number
  readonly latencies: readonly number[]
}

let latencies: number[] = []
let count = 0

/** A receiver that accepts everything and times the requests to `/late`. GET returns the numbers and resets them. */
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, latencies } satisfies ReceivedCounts))
    latencies = []
    count = 0
    return
  }
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    count++
    if (request.url === '/late')
      latencies.push(Date.now() - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).createdAt))
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () =>
  printLine(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
