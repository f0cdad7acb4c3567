import './docs/served-pages.ts'
import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { verifyWebhook } from '../../../src/derive/verify-webhook.ts'
import { type PageVisit, useBrowser, useOnePage } from '../../support/web/browser.ts'
import { faintTexts } from '../../support/web/contrast.js'
import { service } from './docs-service.ts'
import './docs/command-samples.ts'
import { FOUND_FIRST } from './docs/found-first.ts'
import './docs/manual-pages.ts'
import './docs/quickstart.ts'

const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const docs = `${service.url}/docs`

const visit = useBrowser()
const open = useOnePage(visit, desktop)

const results = ({ page }: PageVisit) => page.locator('#results a')
const unfold = (page: Page) =>
  page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true')

describe('a page of the documentation', () => {
  test('shows an event as it is delivered, with a valid signature', async () => {
    const { page } = await open(`${docs}/event-types`)
    const [sent = '', receiver = ''] = await page.locator('#received-events pre').allTextContents()
    const [head = '', body = ''] = sent.split('\n\n')
    const headers = head
      .split('\n')
      .slice(1)
      .map(line => line.split(': '))
    const [, secret = ''] = /'(whsec_\w+)'/.exec(receiver) ?? []
    const webhook = verifyWebhook(Object.fromEntries(headers), body, secret, { toleranceSeconds: Infinity })
    expect(webhook).toMatchObject({ event: 'agent.frozen', data: { status: 'frozen' } })
  })

  test.each([docs, `${docs}/agents`, `${service.url}/v1/docs`])(
    'at %s loads nothing from other hosts and violates no security policy',
    async address => {
      const { page, complaints, requests } = await open(address)
      await page.keyboard.press('/')
      await page.keyboard.type('agent')
      await page.locator('#results a').first().waitFor()
      await page.locator('.theme').click()
      expect(requests.length).toBeGreaterThanOrEqual(4)
      expect(requests.filter(url => !url.startsWith(`${service.url}/`))).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  test.each(['', '/agents', '/event-types', '/guides/webhooks', '/errors/wallet_needed'])(
    'at /docs%s has sufficient contrast in both colour schemes',
    async path => {
      const { page } = await open(docs + path)
      await unfold(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(faintTexts)).toEqual([])
      }
    },
  )

  test('can be read and navigated without JavaScript', async () => {
    const { page } = await visit(`${docs}#menu`, { ...phone, javaScriptEnabled: false })
    await page.getByRole('navigation').getByRole('link', { name: 'Policies' }).click()
    await page.waitForURL(`${docs}/policies`)
    await page.getByRole('link', { name: 'Menu' }).click()
    await page.locator('nav a[href="/docs/policies#policies.create"]').click()
    const operation = page.locator('section.operation:target')
    await operation.locator('h2').waitFor()
    expect(await operation.locator('figure:visible').count()).toBe(4)
    await page.locator('nav').waitFor({ state: 'hidden' })
  })
})

describe('the documentation with JavaScript', () => {
  test('names the service by the address of the request', async () => {
    const { page } = await open(docs)
    expect(await page.locator('#quickstart pre').first().textContent()).toContain(
      `export URL=${service.url}\n`,
    )
  })

  test('moves the focus to the search at the key /', async () => expectSlashToSearch((await open(docs)).page))

  test('shows search results in place of the contents, until the search is cleared', async () => {
    const opened = await open(docs)
    const field = opened.page.getByRole('searchbox')
    const contents = opened.page.locator('#contents')
    await field.fill('zebra')
    await opened.page.getByText('no operations, no events').waitFor()
    await field.fill('unfreeze')
    await opened.page.getByText(/^3 operations/).waitFor()
    const found = await results(opened).evaluateAll(all => all.map(link => link.getAttribute('href')))
    expect(found.slice(0, 3)).toEqual([
      '/docs/agents#agents.unfreeze',
      '/docs/risk#risk.unfreeze',
      '/docs/cards#cards.unfreeze',
    ])
    expect(found).toContain('/docs/agents#agents')
    expect(await contents.isVisible()).toBe(false)
    await field.press('Escape')
    await contents.waitFor()
    expect(await results(opened).count()).toBe(0)
  })

  test('shows what has most of the words where nothing has all of them, and says so', async () => {
    const opened = await open(docs)
    await opened.page.getByRole('searchbox').fill('unfreeze an agent zebra')
    await opened.page.getByText(/^Nothing has all of these words\. Nearest: \d+ operations?, /).waitFor()
    expect(await results(opened).first().getAttribute('href')).toBe('/docs/agents#agents.unfreeze')
    expect(await results(opened).count()).toBeLessThanOrEqual(20)
  })

  test('finds an operation by its scope, its event or its refusal', async () => {
    const { page } = await open(docs)
    for (const word of ['tokens:write', 'policy.assigned', 'external_id_taken']) {
      await page.getByRole('searchbox').fill(word)
      await page.locator('#results a.operation').first().waitFor()
      expect(await page.locator('#found').textContent()).not.toMatch(/^no operations/)
    }
  })

  test.each(FOUND_FIRST)('finds %s first at %s', async (words, address) => {
    const opened = await open(docs)
    await opened.page.getByRole('searchbox').fill(words)
    await results(opened).first().waitFor()
    expect(await results(opened).first().getAttribute('href')).toBe(address)
    expect(await opened.page.locator(`#results a[href="${address}"]`).count()).toBe(1)
  })

  test('fetches the search index once, and then searches offline', async () => {
    const visited = await visit(docs, desktop)
    const field = visited.page.getByRole('searchbox')
    await field.fill('wallet')
    await results(visited).first().waitFor()
    await visited.page.context().setOffline(true)
    await field.fill('unfreeze')
    await visited.page.getByText(/^3 operations/).waitFor()
    expect(visited.requests.filter(url => url.includes('/search-'))).toHaveLength(1)
  })

  test('opens the first result at Enter', async () => {
    const { page } = await open(docs)
    await page.getByRole('searchbox').fill('unfreeze')
    await page.getByRole('searchbox').press('Enter')
    await page.waitForURL(`${docs}/agents#agents.unfreeze`)
    expect(await page.locator('section.operation:target h2').textContent()).toBe('Unfreeze an agent')
  })

  test('finds an event by its name, and highlights it', async () => {
    const { page } = await open(docs)
    await page.getByRole('searchbox').fill('intent.approved')
    await page.getByText(/ operations, 1 event\b/).waitFor()
    await page.locator('#results a.event').click()
    const event = page.locator('div:target')
    expect(await event.locator('dt').textContent()).toBe('intent.approved')
    expect(await event.locator('a[href="/docs/intents#intents.approve"]').isVisible()).toBe(true)
    await page.locator('nav a[aria-current=location][href="/docs/event-types#on.intent.approved"]').waitFor()
  })

  test.each([
    ['policies.create', '/policies'],
    ['record.Policy', '/policies'],
    ['on.agent.frozen', '/event-types'],
    ['event-types', '/event-types'],
    ['agents', '/agents'],
  ])('redirects the earlier single-page anchor #%s', async (anchor, path) => {
    const { page } = await open(`${docs}#${anchor}`)
    await page.waitForURL(`${docs}${path}#${anchor}`)
    expect(await page.locator(`[id="${anchor}"]`).count()).toBe(1)
  })

  test('copies a sample exactly', async () => {
    const { page } = await visit(`${docs}/agents`, {
      ...desktop,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const sample = page.locator('#agents\\.create [data-language=curl]')
    await sample.getByRole('button', { name: 'Copy' }).click()
    await sample.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(await sample.locator('pre').textContent())
    expect(copied).toContain('curl "$URL/agents"')
  })

  test('keeps the chosen language and colour scheme from page to page', async () => {
    const { page } = await open(`${docs}/policies`)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.locator('#policies\\.create').getByRole('button', { name: 'TypeScript' }).first().click()
    await page.locator('.theme').click()
    await page.goto(`${docs}/agents`)
    expect(await page.locator('#agents\\.create .samples pre:visible').textContent()).toContain(
      'await pay.agents.create({',
    )
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  })

  test('marks the current section in the contents', async () => {
    const { page } = await open(`${docs}/policies#policies.toggle`)
    await page.locator('nav a[aria-current=location][href="/docs/policies#policies.toggle"]').waitFor()
    expect(await page.locator('nav a[aria-current=page]').textContent()).toMatch(/^Policies/)
  })
})

async function expectSlashToSearch(page: Page): Promise<void> {
  await page.keyboard.press('/')
  expect(await page.evaluate('document.activeElement.id')).toBe('search')
  expect(await page.getByRole('searchbox').inputValue()).toBe('')
}

describe('the documentation on a phone', () => {
  const openOnPhone = useOnePage(visit, phone)

  test('opens the contents over the page, and closes them at a choice', async () => {
    const { page } = await openOnPhone(docs)
    const contents = page.getByRole('navigation')
    expect(await contents.isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Menu' }).click()
    await contents.locator('a[href="/docs#errors"]').click()
    await contents.waitFor({ state: 'hidden' })
    expect(await page.locator('#errors h2').isVisible()).toBe(true)
  })

  test('moves the focus to the search at the key /', async () =>
    expectSlashToSearch((await openOnPhone(docs)).page))

  test.each([
    '',
    '/policies',
    '/event-types',
    '/webhooks',
    '/guides/approvals',
    '/guides/settings',
    '/errors',
  ])('has nothing wider than the screen at /docs%s', async path => {
    const { page } = await openOnPhone(docs + path)
    await unfold(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
