import './docs/docs-served.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { stepsFor } from '../../../src/derive/docs/quickstart.ts'
import { verifyWebhook } from '../../../src/derive/verify-webhook.ts'
import { useBrowser, useOnePage, type Visit } from '../../support/web/browser.ts'
import { faintTexts } from '../../support/web/contrast.js'
import { service } from './docs-service.ts'

const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const docs = `${service.url}/docs`

const visit = useBrowser()
const open = useOnePage(visit, desktop)

const results = ({ page }: Visit) => page.locator('#results a')

const unfold = (page: Page) =>
  page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true')

describe('the pages', () => {
  test('show an event as it arrives, with a signature that is right', async () => {
    const { page } = await open(`${docs}/event-types`)
    const [sent = '', receiver = ''] = await page.locator('#received-events pre').allTextContents()
    const [head = '', body = ''] = sent.split('\n\n')
    const headers = head
      .split('\n')
      .slice(1)
      .map(line => line.split(': '))
    const [, secret = ''] = /'(whsec_\w+)'/.exec(receiver) ?? []
    const found = verifyWebhook(Object.fromEntries(headers), body, secret, { toleranceSeconds: Infinity })
    expect(found).toMatchObject({ event: 'agent.frozen', data: { status: 'frozen' } })
  })

  test.each([docs, `${docs}/agents`, `${service.url}/v1/docs`])(
    '%s asks nothing of anybody else and breaks no rule',
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

  test.each(['', '/agents', '/event-types'])(
    'the texts of /docs%s stand out from their ground',
    async path => {
      const { page } = await open(docs + path)
      await unfold(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(faintTexts)).toEqual([])
      }
    },
  )

  test('read without a script', async () => {
    const { page } = await visit(`${docs}#menu`, { ...phone, javaScriptEnabled: false })
    await page.getByRole('navigation').getByRole('link', { name: 'Policies' }).click()
    expect(page.url()).toBe(`${docs}/policies`)
    await page.getByRole('link', { name: 'Menu' }).click()
    await page.locator('nav a[href="/docs/policies#policies.create"]').click()
    const operation = page.locator('section.operation:target')
    expect(await operation.locator('h2').isVisible()).toBe(true)
    expect(await operation.locator('figure:visible').count()).toBe(3)
    expect(await page.locator('nav').isVisible()).toBe(false)
  })
})

describe('with their script', () => {
  test('the service is called what the page was asked under', async () => {
    const { page } = await open(docs)
    expect(await page.locator('#quickstart pre').first().textContent()).toContain(
      `export URL=${service.url}\n`,
    )
  })

  test('/ leads to the search', async () => expectSlashToSearch((await open(docs)).page))

  test('the search shows what is found in place of the contents, and goes again', async () => {
    const seen = await open(docs)
    const field = seen.page.getByRole('searchbox')
    const contents = seen.page.locator('#contents')
    await field.fill('policies freeze')
    await seen.page.getByText('no operations, no events').waitFor()
    await field.fill('unfreeze')
    await seen.page.getByText(/^2 operations/).waitFor()
    expect(await results(seen).evaluateAll(all => all.map(one => one.getAttribute('href')))).toEqual([
      '/docs/agents#agents.unfreeze',
      '/docs/agents#agents',
      '/docs/risk#risk.unfreeze',
    ])
    expect(await contents.isVisible()).toBe(false)
    await field.press('Escape')
    expect([await contents.isVisible(), await results(seen).count()]).toEqual([true, 0])
  })

  test('the search finds an operation by its scope, its event and its refusal', async () => {
    const { page } = await open(docs)
    for (const word of ['tokens:write', 'policy.assigned', 'external_id_taken']) {
      await page.getByRole('searchbox').fill(word)
      await page.locator('#results a.operation').first().waitFor()
      expect(await page.locator('#found').textContent()).not.toMatch(/^no operations/)
    }
  })

  test('the index is fetched once, and is enough: searching goes on without the service', async () => {
    const visited = await visit(docs, desktop)
    const field = visited.page.getByRole('searchbox')
    await field.fill('wallet')
    await results(visited).first().waitFor()
    await visited.page.context().setOffline(true)
    await field.fill('unfreeze')
    await visited.page.getByText(/^2 operations/).waitFor()
    expect(visited.requests.filter(url => url.includes('/search-'))).toHaveLength(1)
  })

  test('Enter leads to the first that is found, on its own page', async () => {
    const { page } = await open(docs)
    await page.getByRole('searchbox').fill('unfreeze')
    await page.getByRole('searchbox').press('Enter')
    await page.waitForURL(`${docs}/agents#agents.unfreeze`)
    expect(await page.locator('section.operation:target h2').textContent()).toBe('Unfreeze an agent')
  })

  test('the search finds an event by its name, and what it leads to is marked', async () => {
    const { page } = await open(docs)
    await page.getByRole('searchbox').fill('intent.approved')
    await page.getByText(/ operations, 1 event$/).waitFor()
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
  ])('an address of the time when all was one page, #%s, leads on', async (anchor, path) => {
    const { page } = await open(`${docs}#${anchor}`)
    await page.waitForURL(`${docs}${path}#${anchor}`)
    expect(await page.locator(`[id="${anchor}"]`).count()).toBe(1)
  })

  test('a sample is copied as it stands', async () => {
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

  test('the chosen language and colours are kept from page to page', async () => {
    const { page } = await open(`${docs}/policies`)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.locator('#policies\\.create').getByRole('button', { name: 'TypeScript' }).first().click()
    await page.locator('.theme').click()
    await page.goto(`${docs}/agents`)
    expect(await page.locator('#agents\\.create .samples pre:visible').textContent()).toContain(
      'await client.agents.create({',
    )
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  })

  test('the contents show where one is reading', async () => {
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

describe('on a phone', () => {
  const openOnPhone = useOnePage(visit, phone)

  test('the contents open over the page and close when one has chosen', async () => {
    const { page } = await openOnPhone(docs)
    const contents = page.getByRole('navigation')
    expect(await contents.isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Menu' }).click()
    await contents.locator('a[href="/docs#errors"]').click()
    expect(await contents.isVisible()).toBe(false)
    expect(await page.locator('#errors h2').isVisible()).toBe(true)
  })

  test('/ leads to the search', async () => expectSlashToSearch((await openOnPhone(docs)).page))

  test.each(['', '/policies', '/event-types', '/webhooks'])(
    'nothing on /docs%s is wider than the screen',
    async path => {
      const { page } = await openOnPhone(docs + path)
      await unfold(page)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    },
  )
})

test('the quickstart works as it is pasted', async () => {
  const { key } = await service.owner()
  const [, ...steps] = stepsFor(service.url)
  const script = [
    `export URL=${service.url} KEY=${key}`,
    ...steps.map(({ command }) => `${command}\necho`),
  ].join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script])
  const [policyId, agentId, effective, agent, frozen] = stdout.split('\n').filter(Boolean)
  expect(policyId).toMatch(/^policy_/)
  expect(JSON.parse(effective ?? '')).toMatchObject({
    agentId,
    templateId: policyId,
    autoApproveLimitEuros: 10,
  })
  expect(JSON.parse(agent ?? '')).toMatchObject({ id: agentId, status: 'active' })
  expect(JSON.parse(frozen ?? '')).toMatchObject({ id: agentId, status: 'frozen' })
})
