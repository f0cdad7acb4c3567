import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { searchFor } from '../support/cards/card-data-search.ts'
import { FILLER, FORM } from '../support/cards/filler.ts'
import { aCardOf, aSpender, cardDataOf } from '../support/cards/reveal.ts'
import { anIntent, aToken, bodyOf } from '../support/factories.ts'
import { type HttpResponse, startTestService } from '../support/harness.ts'
import { useBrowser } from '../support/web/browser.ts'

const service = await startTestService()
const visit = useBrowser()

const payments: Record<string, string>[] = []
const shop = createServer(async (request, response) => {
  if (request.method === 'POST') payments.push(Object.fromEntries(new URLSearchParams(await text(request))))
  response.writeHead(200, { 'content-type': 'text/html' }).end(request.method === 'POST' ? 'Paid' : FORM)
})
await new Promise<void>(resolve => shop.listen(0, '127.0.0.1', () => resolve()))
afterAll(() => {
  shop.closeAllConnections()
  shop.close()
})
const shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`

interface Filler {
  publicKey(): Promise<object>
  fill(jwe: string, intentId: string): Promise<void>
}
type FillersPage = typeof globalThis & { filler: Filler }

/** Opens a page of a host that resolves to the loopback interface, in a browser with the filler. */
async function open(url: string): Promise<Page> {
  const { page } = await visit('about:blank')
  await page.context().addInitScript(FILLER)
  await page.route('https://*.example.com/**', async route =>
    route.fulfill({ response: await route.fetch({ url: shopUrl }) }),
  )
  await page.goto(url)
  return page
}

const publicKeyIn = (page: Page) => page.evaluate(() => (globalThis as FillersPage).filler.publicKey())

const fill = (page: Page, jwe: string, intentId: string) =>
  page.evaluate(([given, intent]) => (globalThis as FillersPage).filler.fill(given, intent), [
    jwe,
    intentId,
  ] as const)

async function anAgentThatKeepsAll() {
  const { client } = await service.owner()
  const agent = await aSpender(client)
  const card = await aCardOf(service, client, agent.id)
  const { token } = await aToken(client, agent.id)
  const seen: string[] = []
  const call = async (path: string, body: object): Promise<HttpResponse> => {
    const answer = await service.http('POST', path, { token: String(token), body })
    seen.push(`${[...answer.headers]} ${answer.text}`)
    return answer
  }
  return { client, agent, card, call, seen }
}

test('a filler in Chromium pays with a number that the agent never had', async () => {
  const page = await open('https://shop.example.com/checkout')
  const { client, agent, card, call, seen } = await anAgentThatKeepsAll()
  const publicKeyJwk = (await publicKeyIn(page)) as { kty: string }
  const filler = await bodyOf(client.fillerKeys.create({ body: { label: 'Extension', publicKeyJwk } }))
  const { id: intentId } = await anIntent(client, agent.id, { merchant: 'shop.example.com' })

  const session = await call('/checkout/sessions', { intentId, merchantUrl: page.url() })
  const { token } = session.body
  const redeemed = await call('/checkout/credential', { token, fillerKeyId: filler.id })
  expect([session.status, redeemed.status]).toEqual([201, 200])
  await fill(page, redeemed.body.jwe, intentId)
  await page.waitForFunction(`document.body.textContent === 'Paid'`)

  const data = cardDataOf(card.processorCardId)
  const end = `${String(data.expMonth).padStart(2, '0')}/${data.expYear % 100}`
  expect(payments).toEqual([{ number: data.number, end, cvc: data.cvc }])
  expect(seen).toHaveLength(2)
  expect(seen.flatMap(answer => searchFor([data], []).in(answer))).toEqual([])
  expect(searchFor([data], []).in(JSON.stringify(payments))).not.toEqual([])
})

test('a filler fills no form of another shop, and for no other intent', async () => {
  const page = await open('https://evil.example.com/checkout')
  const { client, agent, call } = await anAgentThatKeepsAll()
  const publicKeyJwk = (await publicKeyIn(page)) as { kty: string }
  const { id } = await bodyOf(client.fillerKeys.create({ body: { label: 'Extension', publicKeyJwk } }))
  const intent = await anIntent(client, agent.id, { merchant: 'shop.example.com' })
  const merchantUrl = 'https://shop.example.com/checkout'
  const { token } = (await call('/checkout/sessions', { intentId: intent.id, merchantUrl })).body
  const { jwe } = (await call('/checkout/credential', { token, fillerKeyId: id })).body
  const received = payments.length
  await expect(fill(page, jwe, intent.id)).rejects.toThrow(/for shop\.example\.com/)
  await expect(fill(page, jwe, 'intent_x')).rejects.toThrow(/another intent/)
  expect(await page.inputValue('[name=number]')).toBe('')
  expect(payments).toHaveLength(received)
})
