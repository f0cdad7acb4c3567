import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { openAsOwner, visit } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

// Slow tests cover the behaviour of each page in Chromium; this one shows that pages open.
test('twelve pages open in Chromium, say what they are, complain of nothing, and axe finds nothing', async () => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10, maxTransactionEuros: 50 })
  const intent = await anIntent(client, agent.id)
  const { page, complaints } = await openAsOwner(client)
  const pages = [
    '',
    '/inbox',
    `/intents/${intent.id}`,
    '/agents',
    `/agents/${agent.id}`,
    `/policies/${agent.policyId}`,
    `/wallets/${agent.walletId}`,
    '/transactions',
    '/deliveries',
    '/people',
    '/keys',
    '/settings',
  ]
  const findings: string[] = []
  for (const path of pages) {
    const answer = await page.goto(`${service.url}/console${path}`)
    expect([path, answer?.status(), (await page.locator('h1').innerText()) !== '']).toEqual([path, 200, true])
    for (const finding of await axeFindings(page)) findings.push(`${path} ${finding}`)
  }
  expect([findings, complaints]).toEqual([[], []])
  expect((await bodyOf(client.intents.get({ params: { id: intent.id } }))).status).toBe('created')
})

const MOST_BYTES = 100_000
const MOST_OF_FONT = 120_000

test('a first visit loads at most 100 kB, and a font that is kept', async () => {
  const { client } = await service.owner()
  await anAgentUnder(client, { autoApproveLimitEuros: 10 })
  const { page } = await openAsOwner(client)
  const storageState = await page.context().storageState()
  const first = await visit('about:blank', { storageState })
  // By address: on a busy machine a live part may be loaded again before the page is measured.
  const sizes = new Map<string, Promise<number>>()
  first.page.on('response', response => {
    const url = response.url()
    if (url.endsWith('/events/stream') || sizes.has(url)) return
    const size = response.request().sizes()
    sizes.set(
      url,
      size.then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
    )
  })
  await first.page.goto(`${service.url.replace('127.0.0.1', 'localhost')}/console`, { waitUntil: 'load' })
  await first.page.locator('time[data-exact], .empty, .box').first().waitFor()
  await first.page.evaluate('document.fonts.ready')
  const fonts = [...sizes].filter(([url]) => url.endsWith('.woff2'))
  const sum = async (some: readonly Promise<number>[]) =>
    (await Promise.all(some)).reduce((bytes, size) => bytes + size, 0)
  const ofFonts = await sum(fonts.map(([, size]) => size))
  const bytes = (await sum([...sizes.values()])) - ofFonts
  expect([fonts.length, ofFonts < MOST_OF_FONT]).toEqual([1, true])
  expect(sizes.size).toBeGreaterThan(10)
  expect(bytes).toBeLessThan(MOST_BYTES)
})
