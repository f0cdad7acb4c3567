import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  isUnusableInput,
  type PaymentCredential,
  type PaymentReceipt,
  parseCredential,
  serializeChallenge,
  serializeReceipt,
} from '../../../src/mpp/index.ts'
import { aChallenge, type ChallengeOptions } from './challenges.ts'

export interface Visit {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly credential: PaymentCredential | undefined
}

export type Conduct = (visit: Visit, response: ServerResponse) => unknown

export interface Merchant {
  readonly url: string
  readonly port: number
  sells(path: string, asks: Conduct, gives?: Conduct): string
  visits(path: string): readonly Visit[]
  payments(path: string): readonly Visit[]
}

/** Requires payment by this challenge, made anew for each request. */
export const demand =
  (options: ChallengeOptions = {}, more: Record<string, string | string[]> = {}): Conduct =>
  (_, response) =>
    response
      .writeHead(402, { 'www-authenticate': serializeChallenge(aChallenge(options)), ...more })
      .end('{"title":"Payment Required"}')

export const receiptFor = ({ challenge }: PaymentCredential, members: Partial<PaymentReceipt> = {}): string =>
  serializeReceipt({
    status: 'success',
    method: 'card',
    timestamp: new Date().toISOString(),
    reference: 'order-1',
    challengeId: challenge.id,
    ...members,
  })

export const sell =
  (goods: unknown = { report: 42 }, members: Partial<PaymentReceipt> = {}): Conduct =>
  ({ credential }, response) =>
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'payment-receipt': receiptFor(credential as PaymentCredential, members),
      })
      .end(JSON.stringify(goods))

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Conduct =>
  (_, response) =>
    response.writeHead(status, headers).end(body)

const credentialIn = (headers: Visit['headers']): PaymentCredential | undefined => {
  const given = headers['payment-authorization'] ?? headers.authorization
  const read = given === undefined ? undefined : parseCredential(given)
  return read === undefined || isUnusableInput(read) ? undefined : read
}

async function visitOf(request: IncomingMessage): Promise<Visit> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const headers = request.headers as Visit['headers']
  const { method = '', url: path = '' } = request
  return { method, path, headers, body: Buffer.concat(chunks).toString(), credential: credentialIn(headers) }
}

/** A merchant on the loopback whose answers the test decides. */
export async function openMerchant(): Promise<Merchant & { close(): void }> {
  const byPath = new Map<string, { asks: Conduct; gives: Conduct }>()
  const visits: Visit[] = []
  const server = createServer((request, response) => {
    void visitOf(request).then(visit => {
      visits.push(visit)
      const { asks, gives } = byPath.get(visit.path.split('?')[0] ?? '') ?? {
        asks: answerWith(404),
        gives: answerWith(404),
      }
      return visit.credential ? gives(visit, response) : asks(visit, response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const at = (path: string) => visits.filter(visit => visit.path.split('?')[0] === path)
  return {
    url,
    port,
    sells(path, asks, gives = sell()) {
      byPath.set(path, { asks, gives })
      return url + path
    },
    visits: at,
    payments: path => at(path).filter(({ credential }) => credential !== undefined),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
