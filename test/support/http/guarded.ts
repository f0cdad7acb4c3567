import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { afterAll } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundAnswer, OutboundRequest } from '../../../src/ports/outbound.ts'
import { nameServer } from './name-server.ts'

export const textOf = (answer: OutboundAnswer): string =>
  answer.kind === 'answered' ? Buffer.from(answer.body).toString() : JSON.stringify(answer)

/** A guarded HTTP client, a name server with hostile names, and receivers on this machine. */
export async function guarded() {
  const names = await nameServer({
    'receiver.example': ['127.0.0.1'],
    'other.example': ['127.0.0.1'],
    'mixed.example': ['127.0.0.1', '10.0.0.1'],
    'mixed-six.example': ['127.0.0.1', '::1'],
    'six.example': ['fd00::1'],
    'mapped.example': ['::ffff:10.0.0.1'],
    'disguised.example': ['64:ff9b::7f00:1'],
    'metadata.example': ['169.254.169.254'],
    'rebinding.example': times => [times === 1 ? '127.0.0.1' : '10.0.0.1'],
    'empty.example': [],
  })
  const guard = guardedHttp({ allow: ['127.0.0.0/8'], resolver: names.resolver })
  const strictGuard = guardedHttp({ resolver: names.resolver })
  const open: { close(): unknown; closeAllConnections?(): void }[] = []
  afterAll(() => {
    for (const server of open) {
      server.closeAllConnections?.()
      server.close()
    }
  })

  async function listen(server: Server): Promise<number> {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
    open.push(server)
    return (server.address() as AddressInfo).port
  }

  const receiver = async (listener: RequestListener): Promise<string> =>
    `http://127.0.0.1:${await listen(createServer(listener))}`

  const send = (url: string, request: Partial<OutboundRequest> = {}, by = guard): Promise<OutboundAnswer> =>
    by.send({ url, method: 'POST', body: '{}', timeoutMs: 60_000, maxBytes: 1_000, ...request })

  return { names, strictGuard, listen, receiver, send }
}
