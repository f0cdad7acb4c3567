import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { printLine } from '../../src/platform/output.ts'

/** What has come since somebody asked: how many, and how long after what they tell of happened, in milliseconds. */
export interface Seen {
  readonly count: number
  readonly latencies: readonly number[]
}

let latencies: number[] = []
let count = 0

/** A receiver that takes everything at once; what is sent to `/late` it times. GET tells what it has seen, and forgets it. */
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, latencies } satisfies Seen))
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
