import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll } from '@jest/globals'
import { createMcpHandler, Server as McpServer, ProtocolError } from '@modelcontextprotocol/server'
import * as MppCard from 'mpp-card/server'
import { Mppx, stripe, Transport } from 'mppx/server'
import Stripe from 'stripe'
import { merchantKey } from './challenges.ts'
import { mppxAccepting, mppxCardDetails } from './mppx-card.ts'

/** A merchant of another vendor's software, and what it has charged. */
export interface PeerMerchant {
  readonly url: string
  readonly charged: readonly unknown[]
}

const NAME = 'Peer Shop'
const NETWORKS = ['visa']
const SECRET = 'the-challenge-secret-of-a-peer-0123456789'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections()
})

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const sold = JSON.stringify({ report: 42 })

const chargingInto = (charged: unknown[]) => mppxAccepting(token => `charge-${charged.push(token)}`)

export async function mppxMerchant(amount: string): Promise<PeerMerchant> {
  const charged: unknown[] = []
  const method = chargingInto(charged)
  const payment = Mppx.create({ methods: [method], realm: 'peer.example.com', secretKey: SECRET })
  const url = await listening((request, response) => {
    const charge = payment.charge({ amount, currency: 'eur', methodDetails: mppxCardDetails })
    void Mppx.toNodeListener(charge)(request, response).then(({ status }) => {
      if (status !== 402) response.setHeader('content-type', 'application/json').end(sold)
    })
  })
  return { url, charged }
}

/** A merchant whose MCP server, of the protocol's SDK, has one tool that mppx lets be paid. */
export async function mppxToolMerchant(amount: string): Promise<PeerMerchant> {
  const charged: unknown[] = []
  const method = chargingInto(charged)
  const transport = Transport.mcp()
  const payment = Mppx.create({ methods: [method], transport, realm: 'peer.example.com', secretKey: SECRET })
  const url = await selling(call =>
    payment.charge({ amount, currency: 'eur', methodDetails: mppxCardDetails })(call as never),
  )
  return { url, charged }
}

/** The same, paid by shared payment tokens. */
export async function mppxStripeToolMerchant(options: StripeMerchantOptions): Promise<PeerMerchant> {
  const transport = Transport.mcp()
  const method = stripeMethod(options)
  const payment = Mppx.create({ methods: [method], transport, realm: 'peer.example.com', secretKey: SECRET })
  const charged: unknown[] = []
  const url = await selling(async call => {
    const asked = await payment.charge({ amount: options.amount })(call as never)
    if (asked.status !== 402) charged.push(asked.status)
    return asked
  })
  return { url, charged }
}

type Asked =
  | { readonly status: 402; readonly challenge: unknown }
  | { readonly status: 200; withReceipt(answer: never): unknown }

function selling(charge: (call: object) => Promise<Asked>): Promise<string> {
  const { fetch } = createMcpHandler(() => {
    const tools = new McpServer({ name: NAME, version: '1' }, { capabilities: { tools: {} } })
    tools.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'report', inputSchema: { type: 'object' as const } }],
    }))
    tools.setRequestHandler('tools/call', async ({ params }) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params } as const
      const asked = await charge(call)
      if (asked.status === 402) throw protocolError(asked.challenge)
      const content = [{ type: 'text' as const, text: sold }]
      const answer = asked.withReceipt({ jsonrpc: '2.0', id: 1, result: { content } } as never)
      return (answer as unknown as { result: { content: typeof content } }).result
    })
    return tools
  })
  return listening(toNodeHandler(fetch))
}

function protocolError(response: unknown): ProtocolError {
  const { error } = response as { error: { code: number; message: string; data: unknown } }
  return new ProtocolError(error.code, error.message, error.data)
}

const toNodeHandler =
  (handle: (request: Request) => Promise<Response>): RequestListener =>
  async (request, response) => {
    const { method = 'GET', headers } = request
    const body = method === 'POST' ? { body: await buffer(request) } : {}
    const answer = await handle(
      new Request(`http://${headers.host}${request.url}`, { method, headers: headers as never, ...body }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  }

export async function mppCardMerchant(amount: string): Promise<PeerMerchant> {
  const charged: unknown[] = []
  const payment = MppCard.MppCard.create({
    acceptedNetworks: NETWORKS,
    merchantName: NAME,
    privateKey: merchantKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    realm: 'peer.example.com',
    secretKey: SECRET,
    gateway: {
      async charge({ token }) {
        charged.push(token)
        return { reference: `charge-${charged.length}`, status: 'success' }
      },
    },
  })
  const url = await listening((request, response) => {
    const charge = payment.charge({ amount, currency: 'eur', recipient: 'shop' })
    void MppCard.MppCard.toNodeListener(charge)(request, response).then(({ status }) => {
      if (status !== 402) response.setHeader('content-type', 'application/json').end(sold)
    })
  })
  return { url, charged }
}

interface StripeMerchantOptions {
  readonly amount: string
  readonly currency?: string
  readonly networkId: string
  /** The address of Stripe's API. */
  readonly apiUrl: string
  readonly externalId?: string
}

function stripeMethod({ currency = 'eur', networkId, apiUrl, externalId }: StripeMerchantOptions) {
  const { hostname: host, port } = new URL(apiUrl)
  const client = new Stripe('sk_test_of_a_peer', { host, port, protocol: 'http', maxNetworkRetries: 0 })
  return stripe.charge({
    client: client as never,
    networkId,
    paymentMethodTypes: ['card'],
    currency,
    decimals: 2,
    ...(externalId === undefined ? {} : { externalId }),
  })
}

/** A merchant that mppx lets be paid by shared payment tokens, with Stripe's own client. */
export async function mppxStripeMerchant(options: StripeMerchantOptions): Promise<PeerMerchant> {
  const { amount } = options
  const charged: unknown[] = []
  const payment = Mppx.create({
    methods: [stripeMethod(options)],
    realm: 'peer.example.com',
    secretKey: SECRET,
  })
  const url = await listening((request, response) => {
    const charge = payment.charge({ amount })
    void Mppx.toNodeListener(charge)(request, response).then(({ status }) => {
      if (status === 402) return
      charged.push(status)
      response.setHeader('content-type', 'application/json').end(sold)
    })
  })
  return { url, charged }
}
