import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export type HandOn = (headers: Headers) => void

type Answering = (asked: IncomingMessage, answer: ServerResponse, handOn: HandOn, own: string) => void

/** A server in front of a service, closed after the tests; returns its address. */
export async function inFrontOf(url: string, answering: Answering): Promise<string> {
  const server = createServer((asked, answer) => {
    const handOn: HandOn = given => {
      const headers = given as Record<string, string>
      const sent = request(new URL(asked.url ?? '/', url), { method: asked.method, headers }, received => {
        answer.writeHead(received.statusCode ?? 500, received.headers)
        received.pipe(answer)
      })
      sent.on('error', () => answer.destroy())
      // A client that disconnects disconnects from the service, too.
      answer.on('close', () => sent.destroy())
      asked.pipe(sent)
    }
    answering(asked, answer, handOn, own)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return own
}

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** A busy service: every third request with a credential is refused with a retry. */
export function busy(url: string): Promise<string> {
  let requests = 0
  return inFrontOf(url, (asked, answer, handOn) => {
    const isOfCaller =
      /^bearer /i.test(asked.headers.authorization ?? '') || asked.headers['x-dashboard-secret']
    if (isOfCaller && ++requests % 3 === 1) {
      asked.resume()
      answer.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
      answer.end('{"error":"Too many requests.","requestId":"busy"}')
    } else handOn(asked.headers)
  })
}
