import { afterAll, describe, expect, test } from '@jest/globals'
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ProtocolError, Server } from '@modelcontextprotocol/server'
import type { ToolCall, ToolClient, ToolOptions } from '../../../src/packages/typescript/call-tool.ts'
import { clientClass } from '../../../src/packages/typescript/client.ts'
import { aChallenge } from '../../support/commerce/challenges.ts'
import { aPayer, credentialsOn, type Payer } from '../../support/commerce/payers.ts'
import { mppxToolMerchant } from '../../support/commerce/peer-merchants.ts'
import { aToken } from '../../support/factories.ts'
import { service } from './service.ts'

interface Package {
  callTool<R>(client: ToolClient<R>, call: ToolCall, options: ToolOptions): Promise<R>
}

const Package = clientClass({ mpp: { mint: 'POST /v1/mpp/credentials bk' } })
const REPORT = { name: 'report', arguments: { number: 42 } }
const SHOP = 'http://127.0.0.1/mcp'
const CREDENTIAL = 'org.paymentauth/credential'

const clients: Client[] = []
afterAll(() => Promise.all(clients.map(client => client.close())))

async function connected(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  clients.push(client)
  await client.connect(transport)
  return client
}

const merchant = await mppxToolMerchant('2000')
const atMerchant = await connected(new StreamableHTTPClientTransport(new URL(merchant.url)))

async function packageOf({ client, agent }: Payer): Promise<Package> {
  const { token } = await aToken(client, agent.id)
  return new Package({ url: service.url, token: String(token) }) as Package
}

async function aBuyer() {
  const payer = await aPayer(service)
  return { payer, pay: await packageOf(payer), intentId: payer.intent.id }
}

type Handled = (call: { _meta?: Record<string, unknown> }) => object

/** A server of tools in this process, and what it was called with. */
async function aServer(handle: Handled) {
  const calls: { _meta?: Record<string, unknown> }[] = []
  const server = new Server({ name: 'shop', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/call', ({ params }) => {
    calls.push(params as never)
    return handle(params as never) as never
  })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await server.connect(theirs)
  return { calls, client: await connected(ours) }
}

const inJson = ({ request, ...challenge }: ReturnType<typeof aChallenge>) => ({
  ...challenge,
  request: JSON.parse(Buffer.from(request, 'base64url').toString()),
})

const demanding = (...challenges: readonly ReturnType<typeof aChallenge>[]) =>
  new ProtocolError(-32_042, 'Payment Required', { httpStatus: 402, challenges: challenges.map(inJson) })

const onlyDemanding = (...challenges: readonly ReturnType<typeof aChallenge>[]) =>
  aServer(() => {
    throw demanding(...challenges)
  })

const paidIn = (call: { _meta?: Record<string, unknown> } | undefined) =>
  call?._meta?.[CREDENTIAL] as { challenge: object; payload: object } | undefined

describe('a tool that asks for payment', () => {
  test('of a merchant made with mppx is paid once from the intent, and its receipt is in the result', async () => {
    const { payer, pay, intentId } = await aBuyer()
    const before = merchant.charged.length
    const options = { intentId, url: merchant.url }
    const result = await pay.callTool(atMerchant, REPORT, options)
    expect(result).toMatchObject({
      content: [{ text: '{"report":42}' }],
      _meta: { 'org.paymentauth/receipt': { method: 'card', status: 'success' } },
    })
    expect(merchant.charged.slice(before)).toMatchObject([{ token: { eci: expect.any(String) } }])
    expect(await credentialsOn(payer.client, intentId)).toMatchObject([
      { status: 'minted', sentBy: 'caller', amountEuros: 20, method: 'POST', merchantName: 'Peer Shop' },
    ])
    await expect(pay.callTool(atMerchant, REPORT, options)).rejects.toMatchObject({
      code: 'intent_being_paid',
    })
    expect(merchant.charged).toHaveLength(before + 1)
  })

  test('is paid once by many calls at once', async () => {
    const { pay, intentId } = await aBuyer()
    const before = merchant.charged.length
    const options = { intentId, url: merchant.url }
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => pay.callTool(atMerchant, REPORT, options)))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(merchant.charged).toHaveLength(before + 1)
  })

  test('by a result instead of an error is paid, too, with the challenge as the server wrote it', async () => {
    const { pay, intentId } = await aBuyer()
    const challenge = inJson(aChallenge({ parameters: { opaque: 'b3JkZXI' } }))
    const demand = { 'org.paymentauth/payment-required': { challenges: [challenge] } }
    const { calls, client } = await aServer(call =>
      paidIn(call) ? { content: [] } : { content: [], isError: true, _meta: demand },
    )
    const call = { ...REPORT, _meta: { trace: 'own' } }
    expect(await pay.callTool(client, call, { intentId, url: SHOP })).toMatchObject({ content: [] })
    expect(calls).toHaveLength(2)
    expect(calls[1]?._meta).toMatchObject({ trace: 'own', [CREDENTIAL]: { challenge } })
    expect(paidIn(calls[1])?.challenge).toEqual(challenge)
  })

  test('once more after it was paid gets nothing more: its demand is the caller’s', async () => {
    const { payer, pay, intentId } = await aBuyer()
    const { calls, client } = await onlyDemanding(aChallenge())
    await expect(pay.callTool(client, REPORT, { intentId, url: SHOP })).rejects.toMatchObject({
      code: -32_042,
    })
    expect(calls.map(call => paidIn(call) !== undefined)).toEqual([false, true])
    expect(await credentialsOn(payer.client, intentId)).toMatchObject([{ status: 'minted' }])
  })

  test('keeps its money held after the connection broke between minting and calling', async () => {
    const { payer, pay, intentId } = await aBuyer()
    const { calls, client } = await aServer(call => {
      if (!paidIn(call)) throw demanding(aChallenge())
      return { content: [] }
    })
    const broken: ToolClient<unknown> = {
      callTool: call => (paidIn(call) ? Promise.reject(new Error('killed')) : client.callTool(call)),
    }
    const options = { intentId, url: SHOP }
    await expect(pay.callTool(broken, REPORT, options)).rejects.toThrow('killed')
    await expect(pay.callTool(client, REPORT, options)).rejects.toMatchObject({ code: 'intent_being_paid' })
    expect(calls.filter(paidIn)).toEqual([])
    expect(await credentialsOn(payer.client, intentId)).toMatchObject([{ status: 'minted' }])
  })
})

describe('a demand that the intent does not pay is refused, and the tool is called once', () => {
  test.each([
    ['of more than the intent holds', 'amount_above_held', SHOP, aChallenge({ amount: '2001' })],
    ['that has expired', 'challenge_expired', SHOP, aChallenge({ expires: '2026-01-01T00:00:00Z' })],
    ['of another merchant', 'merchant_mismatch', 'https://other.example.com/mcp', aChallenge()],
    ['by another method', 'no_card_offer', SHOP, aChallenge({ parameters: { method: 'tempo' } })],
    ['of no sense', 'challenge_unusable', SHOP, aChallenge({ parameters: { request: 'e30' } })],
  ])('a demand %s: %s', async (_, code, url, challenge) => {
    const { payer, pay, intentId } = await aBuyer()
    const { calls, client } = await onlyDemanding(challenge)
    await expect(pay.callTool(client, REPORT, { intentId, url })).rejects.toMatchObject({ code })
    expect(calls).toHaveLength(1)
    expect(await credentialsOn(payer.client, intentId)).toEqual([])
  })
})

test('a tool that asks for no payment, or for something else, is called once, and nothing is minted', async () => {
  const { payer, pay, intentId } = await aBuyer()
  const free = await aServer(() => ({ content: [{ type: 'text', text: 'free' }] }))
  expect(await pay.callTool(free.client, REPORT, { intentId, url: SHOP })).toMatchObject({
    content: [{ text: 'free' }],
  })
  for (const error of [
    new ProtocolError(-32_602, 'no'),
    new ProtocolError(-32_042, 'no', { challenges: [] }),
  ]) {
    const other = await aServer(() => {
      throw error
    })
    await expect(pay.callTool(other.client, REPORT, { intentId, url: SHOP })).rejects.toMatchObject({
      code: error.code,
    })
    expect(other.calls).toHaveLength(1)
  }
  expect(await credentialsOn(payer.client, intentId)).toEqual([])
})
