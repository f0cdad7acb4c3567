import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { printLine } from '../../../src/platform/output.ts'
import { anOauthProvider, resourceAt } from '../../support/control/assistants.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { type ToolResult, textOf } from '../../support/http/assistant.ts'
import { newsIn, openAsOwner } from './devices.ts'
import { origin, service } from './pages-service.ts'

/** What the shop sends: a picture. */
const RECEIPT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const PHONE = { width: 360, height: 700 }

/** The assistant's own program, to which the browser returns. */
const assistant = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Connected</title>')
})
await new Promise<void>(resolve => assistant.listen(0, '127.0.0.1', () => resolve()))
afterAll(() => {
  assistant.close()
  assistant.closeAllConnections()
})
const callback = `http://127.0.0.1:${(assistant.address() as AddressInfo).port}/callback`

async function approveOn(page: Page, url: string): Promise<void> {
  await page.goto(url.replace('127.0.0.1', 'localhost'))
  await page.getByRole('button', { name: 'Approve with passkey' }).click()
  await newsIn(page).filter({ hasText: 'Approved.' }).waitFor()
}

/** The official client knows the address alone. The person connects it on a phone, for € 5 a payment at most. */
async function connected(owner: TestClient, page: Page, opensPages: boolean) {
  const address = new URL(await resourceAt(origin))
  const { provider, asked } = anOauthProvider(callback)
  const capabilities = opensPages ? { elicitation: { url: {} } } : {}
  const options = { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities } as const
  const transport = new StreamableHTTPClientTransport(address, { authProvider: provider })
  const first = new Client({ name: 'assistant', version: '1' }, options)
  const startedAt = performance.now()
  await first.connect(transport).catch(() => undefined)
  await page.goto(String(asked[0]).replace('127.0.0.1', 'localhost'))
  await page.getByLabel('At most per payment').fill('5')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.locator('blockquote').filter({ hasText: 'Let the assistant' }).waitFor()
  await page.getByRole('button', { name: 'Connect with passkey' }).click()
  await page.waitForURL(`${callback}?*`)
  await transport.finishAuth(new URL(page.url()).searchParams)
  const client = new Client({ name: 'assistant', version: '1' }, options)
  if (opensPages)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      await approveOn(page, (params as { url: string }).url)
      return { action: 'accept' as const }
    })
  await client.connect(new StreamableHTTPClientTransport(address, { authProvider: provider }))
  await client.callTool({ name: 'list_intents', arguments: {} })
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  printLine(`From the address of /mcp to the first answer: ${seconds} s`)
  const { data } = await bodyOf(owner.agents.list({}))
  await bodyOf(owner.fund.wallet({ params: { id: String(data[0]?.walletId) }, body: { amountEuros: 50 } }))
  return async (name: string, given: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: given })) as unknown as ToolResult
}

test.each([
  ['opens the page of approval itself', true],
  ['shows a link', false],
])(
  'an empty assistant that %s is connected, asks for what its mandate does not reach, and pays',
  async (_, opensPages) => {
    const { client } = await service.owner()
    const shop = await bodyOf(client.wallets.create({ body: { name: 'Shop' } }))
    const { page, complaints } = await openAsOwner(client, { viewport: PHONE })
    const call = await connected(client, page, opensPages)

    const small = await call('declare_intent', { amountEuros: 2.5, walletId: shop.id, purpose: 'The report' })
    expect(small.structuredContent).toMatchObject({ status: 'approved', decidedBy: { type: 'mandate' } })
    const paid = await call('pay_intent', { intentId: small.structuredContent.id })
    expect(paid.structuredContent).toMatchObject({ status: 'completed', transactionId: expect.any(String) })
    const { transactionId } = paid.structuredContent
    expect((await call('list_receipts', { transactionId })).structuredContent.data).toEqual([])
    await bodyOf(client.receipts.create({ body: { transactionId, file: RECEIPT } }))
    const receipts = await call('list_receipts', { transactionId })
    expect(receipts.structuredContent.data).toMatchObject([{ transactionId, mediaType: 'image/png' }])

    const large = await call('declare_intent', {
      amountEuros: 12.5,
      walletId: shop.id,
      purpose: 'A data set',
    })
    const { id: intentId, approvalUrl } = large.structuredContent
    if (!opensPages) {
      expect(textOf(large)).toContain(approvalUrl)
      const waiting = call('wait_for_intent', { intentId })
      await approveOn(page, approvalUrl)
      expect((await waiting).structuredContent).toMatchObject({ status: 'approved' })
    } else expect(large.structuredContent).toMatchObject({ status: 'approved' })
    expect((await call('pay_intent', { intentId })).structuredContent).toMatchObject({ status: 'completed' })

    const { data } = await bodyOf(client.connectedAssistants.list({}))
    expect(data[0]).toMatchObject({ status: 'connected', spentEuros: 15, mandate: { spentEuros: 2.5 } })
    expect(complaints).toEqual([])
  },
)
