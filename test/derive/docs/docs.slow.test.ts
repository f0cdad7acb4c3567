import './docs/served-pages.ts'
import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { verifyWebhook } from '../../../src/derive/verify-webhook.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { type PageVisit, useBrowser, useOnePage } from '../../support/web/browser.ts'
import { faintTexts } from '../../support/web/contrast.js'
import { service } from './docs-service.ts'
import './docs/command-samples.ts'
import './docs/manual-pages.ts'
import './docs/quickstart.ts'

const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const docs = `${service.url}/docs`

const visit = useBrowser()
const open = useOnePage(visit, desktop)

const PAGES = [
  '',
  '/guides',
  '/api',
  '/operate',
  '/agents',
  '/api/intents.create',
  '/event-types',
  '/guides/webhooks',
  '/errors',
  '/errors/wallet_needed',
  '/errors/wallet_lost',
  '/search?q=webhook',
]

const results = ({ page }: PageVisit) => page.locator('#results a')
const unfold = (page: Page) =>
  page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true')

describe('a page of the documentation', () => {
  test('shows an event as it is delivered, with a valid signature', async () => {
    const { page } = await open(`${docs}/event-types`)
    const [sent = '', receiver = ''] = await page.locator('#received-events ~ .code pre').allTextContents()
    const [head = '', body = ''] = sent.split('\n\n')
    const headers = head
      .split('\n')
      .slice(1)
      .map(line => line.split(': '))
    const [, secret = ''] = /'(whsec_\w+)'/.exec(receiver) ?? []
    const webhook = verifyWebhook(Object.fromEntries(headers), body, secret, { toleranceSeconds: Infinity })
    expect(webhook).toMatchObject({ event: 'agent.frozen', data: { status: 'frozen' } })
  })

  test.each([docs, `${docs}/api/agents.create`, `${service.url}/v1/docs`])(
    'at %s loads nothing from other hosts and violates no security policy',
    async address => {
      const { page, complaints, requests } = await open(address)
      await page.keyboard.press('/')
      await page.keyboard.type('agent')
      await page.locator('#results a').first().waitFor()
      await page.keyboard.press('Escape')
      await page.locator('.theme').click()
      expect(requests.length).toBeGreaterThanOrEqual(6)
      expect(requests.filter(url => !url.startsWith(`${service.url}/`))).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  test.each(PAGES)(
    'at /docs%s is accessible, with sufficient contrast in both colour schemes',
    async path => {
      const { page } = await open(docs + path)
      await unfold(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(faintTexts)).toEqual([])
      }
      expect(await axeFindings(page)).toEqual([])
    },
  )

  test('can be read, navigated and searched without JavaScript', async () => {
    const { page } = await visit(`${docs}#menu`, { ...phone, javaScriptEnabled: false })
    const menu = page.locator('#menu')
    await menu.getByRole('link', { name: 'API' }).click()
    await page.waitForURL(`${docs}/api`)
    await page.getByRole('link', { name: 'Menu' }).click()
    await menu.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('link', { name: 'Menu' }).click()
    await page.locator('#menu a[href="/docs/api/policies.create"]').click()
    await page.waitForURL(`${docs}/api/policies.create`)
    expect(await page.locator('main figure:visible').count()).toBe(5)
    await menu.waitFor({ state: 'hidden' })
    await page.getByRole('searchbox').fill('webhook signature')
    await page.getByRole('searchbox').press('Enter')
    await page.waitForURL(`${docs}/search?q=webhook+signature`)
    const first = page.locator('.hits a').first()
    expect(await first.getAttribute('href')).toBe('/docs/guides/webhooks#verify-the-signature')
    expect(await page.getByRole('searchbox').inputValue()).toBe('webhook signature')
  })

  test.each(['/errors/agent_lost', '/guides/webhoks', '/api/agents.make', '/nowhere'])(
    'helps at the unknown address /docs%s, and is a 404',
    async path => {
      const { page } = await visit('about:blank', desktop)
      const answer = await page.goto(docs + path)
      expect(answer?.status()).toBe(404)
      expect(await page.locator('h1').textContent()).toBe('Page not found')
      await page.getByRole('link', { name: 'error codes', exact: true }).waitFor()
      if (path !== '/nowhere') expect(await page.locator('.hits a').count()).toBeGreaterThan(0)
    },
  )
})

describe('the documentation with JavaScript', () => {
  test('names the service by the address of the request', async () => {
    const { page } = await open(docs)
    expect(await page.locator('#quickstart ~ .code pre').first().textContent()).toContain(
      `export URL=${service.url}\n`,
    )
  })

  test('moves the focus to the search at the key /', async () => expectSlashToSearch((await open(docs)).page))

  test('shows results while a reader types, until the search is cleared', async () => {
    const opened = await open(docs)
    const field = opened.page.getByRole('searchbox')
    const status = opened.page.locator('#results [role=status]')
    await field.fill('zebra')
    await status.getByText('Nothing found').waitFor()
    await field.fill('unfreeze')
    await opened.page.locator('#results a[href="/docs/api/agents.unfreeze"]').waitFor()
    expect(await opened.page.locator('#results mark').count()).toBeGreaterThan(0)
    expect(await opened.page.locator('#results h2').first().textContent()).toBe('API')
    await field.press('Escape')
    await opened.page.locator('#results').waitFor({ state: 'hidden' })
    expect(await results(opened).count()).toBe(0)
  })

  test('says so if the search does not answer', async () => {
    const { page } = await visit(docs, desktop)
    await page.context().setOffline(true)
    await page.getByRole('searchbox').fill('wallet')
    const results = page.locator('#results')
    await results.getByText('Press Enter to try again').waitFor()
    expect(await results.textContent()).toContain('The search does not answer')
  })

  test('opens the page of results at Enter, and walks through them by the arrow keys', async () => {
    const { page } = await open(docs)
    await page.getByRole('searchbox').fill('freeze agent')
    await page.getByRole('searchbox').press('Enter')
    await page.waitForURL(`${docs}/search?q=freeze+agent`)
    expect(await page.locator('.found a').first().getAttribute('href')).toBe('/docs/api/agents.freeze')
    await page.goto(docs)
    await page.getByRole('searchbox').fill('freeze agent')
    await page.locator('#results a').nth(1).waitFor()
    await page.getByRole('searchbox').press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const isSecond = `document.querySelectorAll('#results a')[1] === document.activeElement`
    expect(await page.evaluate(isSecond)).toBe(true)
  })

  test('finds an event by its name, and highlights it', async () => {
    const { page } = await open(docs)
    await page.getByRole('searchbox').fill('intent.approved')
    await page.locator('#results a[href="/docs/event-types#on.intent.approved"]').click()
    const event = page.locator('h3:target')
    expect(await event.textContent()).toBe('intent.approved')
    expect(await event.locator('+ p a[href="/docs/api/intents.approve"]').isVisible()).toBe(true)
  })

  test('copies a sample exactly', async () => {
    const { page } = await visit(`${docs}/api/agents.create`, {
      ...desktop,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const sample = page.locator('.samples [data-language=curl]')
    await sample.getByRole('button', { name: 'Copy' }).click()
    await sample.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(await sample.locator('pre').textContent())
    expect(copied).toContain('curl "$URL/agents"')
  })

  test('keeps the chosen language and colour scheme from page to page', async () => {
    const { page } = await open(`${docs}/api/policies.create`)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: 'TypeScript' }).first().click()
    await page.locator('.theme').click()
    await page.goto(`${docs}/api/agents.create`)
    expect(await page.locator('.samples pre:visible').textContent()).toContain('await pay.agents.create({')
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  })

  test('marks the current page and the current part in the contents', async () => {
    const { page } = await open(`${docs}/api/policies.toggle`)
    const current = page.locator('#menu .list a[aria-current=page]')
    expect(await current.getAttribute('href')).toBe('/docs/api/policies.toggle')
    expect(await page.locator('header .docs-parts a[aria-current]').textContent()).toBe('API')
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
    const { page } = await openOnPhone(`${docs}/api`)
    const contents = page.locator('#menu')
    expect(await contents.isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Menu' }).click()
    await contents.locator('a[href="/docs/api#errors"]').click()
    await contents.waitFor({ state: 'hidden' })
    expect(await page.locator('h2#errors').isVisible()).toBe(true)
  })

  test('moves the focus to the search at the key /', async () =>
    expectSlashToSearch((await openOnPhone(docs)).page))

  test.each([...PAGES, '/policies', '/webhooks', '/guides/approvals', '/guides/settings'])(
    'has nothing wider than the screen at /docs%s',
    async path => {
      const { page } = await openOnPhone(docs + path)
      await unfold(page)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    },
  )

  test.each([360, 768, 1024, 1920])('fits a screen of %d pixels', async width => {
    const { page } = await visit(`${docs}/api/intents.create`, { viewport: { width, height: 800 } })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  })
})
