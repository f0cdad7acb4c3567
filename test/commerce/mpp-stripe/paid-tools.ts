import { afterAll, expect, test } from '@jest/globals'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ToolCall, ToolClient, ToolOptions } from '../../../src/packages/typescript/call-tool.ts'
import { clientClass } from '../../../src/packages/typescript/client.ts'
import { mppxStripeToolMerchant } from '../../support/commerce/peer-merchants.ts'
import { aToken } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aStripePayer, credentialOf, double, service, tokens, transactionsOf } from './service.ts'

interface Package {
  callTool<R>(client: ToolClient<R>, call: ToolCall, options: ToolOptions): Promise<R>
}

const Package = clientClass({ mpp: { mint: 'POST /v1/mpp/credentials bk' } })
const tools = new Client({ name: 'test', version: '1' })
afterAll(() => tools.close())

test('a tool of a merchant made with mppx is paid by a shared payment token, once', async () => {
  const merchant = await mppxStripeToolMerchant({
    ...{ amount: '20', networkId: double.seller.profile, apiUrl: double.url },
  })
  await tools.connect(new StreamableHTTPClientTransport(new URL(merchant.url)))
  const payer = await aStripePayer()
  const { token } = await aToken(payer.client, payer.agent.id)
  const pay = new Package({ url: service.url, token: String(token) }) as Package
  const call = { name: 'report', arguments: { number: 42 } }
  const options = { intentId: payer.intent.id, url: merchant.url }
  const made = tokens().length
  expect(await pay.callTool(tools, call, options)).toMatchObject({
    content: [{ text: '{"report":42}' }],
    _meta: { 'org.paymentauth/receipt': { method: 'stripe', status: 'success' } },
  })
  expect(tokens().slice(made)).toMatchObject([{ deactivated_reason: 'consumed' }])
  expect(await credentialOf(payer)).toMatchObject({ sentBy: 'caller', network: 'stripe', status: 'consumed' })
  expect(await transactionsOf(payer)).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
  await expect(pay.callTool(tools, call, options)).rejects.toMatchObject({ code: 'intent_being_paid' })
  expect(merchant.charged).toHaveLength(1)
  await expectVerifiedLedger(payer.client)
})
