import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { areas } from '../../src/areas.ts'
import { stepsFor } from '../../src/derive/docs/quickstart.ts'
import { verifyWebhook } from '../../src/derive/verify-webhook.ts'
import { published } from '../../src/kernel/area.ts'
import { eventSchemas } from '../../src/kernel/event-types.ts'
import { useBrowser, type Visit } from '../support/browser.ts'
import { faintTexts } from '../support/contrast.js'
import { startHouse } from '../support/harness.ts'

const keys = published(areas).map(({ key }) => key)
const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const house = await startHouse()
const docs = `${house.url}/docs`

const visit = useBrowser()

const shown = ({ page }: Visit) => page.locator('nav a.operation:visible')

const unfold = (page: Page) =>
  page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true')

describe('the page', () => {
  let page: Page
  beforeAll(async () => {
    ;({ page } = await visit(docs, desktop))
  })

  test('lists every operation, with an anchor of its own', async () => {
    expect(await page.locator('section.operation').evaluateAll(all => all.map(one => one.id))).toEqual(
      expect.arrayContaining(keys),
    )
    const linked = await page
      .locator('nav a.operation')
      .evaluateAll(all => all.map(one => one.getAttribute('href')))
    expect(linked.sort()).toEqual(keys.map(key => `#${key}`).sort())
  })

  test('lists every event, with an anchor of its own', async () => {
    const events = [...eventSchemas(areas).keys()].map(name => `#on.${name}`)
    const linked = await page
      .locator('nav a.event')
      .evaluateAll(all => all.map(one => one.getAttribute('href') ?? ''))
    expect(linked.sort()).toEqual(events.sort())
  })

  test('shows an event as it arrives, with a signature that is right', async () => {
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

  test('every link within it leads somewhere', async () => {
    const ids = new Set(await page.locator('[id]').evaluateAll(all => all.map(one => one.id)))
    const links = await page
      .locator('a[href^="#"]')
      .evaluateAll(all => all.map(one => one.getAttribute('href')))
    expect(links.filter(link => !ids.has(link?.slice(1) ?? ''))).toEqual([])
  })

  test.each([docs, `${house.url}/v1/docs`])(
    '%s asks nothing of anybody else and breaks no rule',
    async address => {
      const { page, complaints, requests } = await visit(address, desktop)
      await page.keyboard.press('/')
      await page.keyboard.type('agent')
      await page.locator('.theme').click()
      expect(requests.length).toBeGreaterThanOrEqual(3)
      expect(requests.filter(url => !url.startsWith(`${house.url}/`))).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  test.each(['light', 'dark'] as const)('its texts stand out from their ground (%s)', async colorScheme => {
    await page.emulateMedia({ colorScheme })
    await unfold(page)
    expect(await page.evaluate(faintTexts)).toEqual([])
  })

  test('reads without a script', async () => {
    const { page } = await visit(`${docs}#menu`, { ...phone, javaScriptEnabled: false })
    await page.locator('nav summary', { hasText: 'Policies' }).click()
    await page.locator('nav a[href="#policies.create"]').click()
    const operation = page.locator('section.operation:target')
    expect(await operation.locator('h3').isVisible()).toBe(true)
    expect(await operation.locator('figure:visible').count()).toBe(3)
    expect(await page.locator('nav').isVisible()).toBe(false)
  })
})

describe('with its script', () => {
  let seen: Visit
  beforeAll(async () => {
    seen = await visit(docs, desktop)
  })

  test('the service is called what the page was asked under', async () => {
    expect(await seen.page.locator('#quickstart pre').first().textContent()).toContain(
      `export URL=${house.url}\n`,
    )
  })

  test('/ leads to the search', () => expectSlashToSearch(seen.page))

  test('the search narrows the contents, and lets them go again', async () => {
    const field = seen.page.getByRole('searchbox')
    await field.fill('policies freeze')
    expect(await seen.page.locator('#found').textContent()).toBe('no operations, no events')
    await field.fill('unfreeze')
    expect(await shown(seen).evaluateAll(all => all.map(one => one.getAttribute('href')))).toEqual([
      '#agents.unfreeze',
      '#risk.unfreeze',
    ])
    await field.press('Enter')
    expect(new URL(seen.page.url()).hash).toBe('#agents.unfreeze')
    await field.press('Escape')
    expect(await seen.page.locator('nav li[hidden]').count()).toBe(0)
  })

  test('the search finds an operation by its scope, its event and its refusal', async () => {
    for (const word of ['tokens:write', 'policy.assigned', 'external_id_taken']) {
      await seen.page.getByRole('searchbox').fill(word)
      expect(await shown(seen).count()).toBeGreaterThan(0)
    }
  })

  test('the search finds an event by its name, and what it leads to is marked', async () => {
    const field = seen.page.getByRole('searchbox')
    await field.fill('intent.approved')
    expect(await seen.page.locator('#found').textContent()).toMatch(/ operations, 1 event$/)
    await seen.page.locator('nav a.event:visible').click()
    const event = seen.page.locator('div:target')
    expect(await event.locator('dt').textContent()).toBe('intent.approved')
    expect(await event.locator('a[href="#intents.approve"]').isVisible()).toBe(true)
    await seen.page.locator('nav a[aria-current][href="#on.intent.approved"]').waitFor()
    await field.press('Escape')
  })

  test('a sample is copied as it stands', async () => {
    const { page } = await visit(docs, { ...desktop, permissions: ['clipboard-read', 'clipboard-write'] })
    const sample = page.locator('#agents\\.create [data-language=curl]')
    await sample.getByRole('button', { name: 'Copy' }).click()
    await sample.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(await sample.locator('pre').textContent())
    expect(copied).toContain('curl "$URL/agents"')
  })

  test('the chosen language and colours are kept', async () => {
    const { page } = await visit(docs, { ...desktop, colorScheme: 'light' })
    const sample = page.locator('#policies\\.create .samples')
    await sample.getByRole('button', { name: 'TypeScript' }).first().click()
    await page.locator('.theme').click()
    await page.reload()
    expect(await sample.locator('pre:visible').textContent()).toContain('await client.policies.create({')
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  })

  test('the contents show where one is reading', async () => {
    const { page } = await visit(`${docs}#policies.toggle`, desktop)
    await page.locator('nav a[aria-current][href="#policies.toggle"]').waitFor()
    expect(await page.locator('nav details[open] summary').allTextContents()).toEqual([
      expect.stringMatching('Policies'),
    ])
  })
})

async function expectSlashToSearch(page: Page): Promise<void> {
  await page.keyboard.press('/')
  expect(await page.evaluate('document.activeElement.id')).toBe('search')
  expect(await page.getByRole('searchbox').inputValue()).toBe('')
}

describe('on a phone', () => {
  let page: Page
  beforeAll(async () => {
    ;({ page } = await visit(docs, phone))
  })

  test('the contents open over the page and close when one has chosen', async () => {
    const contents = page.getByRole('navigation')
    expect(await contents.isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Menu' }).click()
    await contents.locator('a[href="#errors"]').click()
    expect(await contents.isVisible()).toBe(false)
    expect(await page.locator('#errors h2').isVisible()).toBe(true)
  })

  test('/ leads to the search', () => expectSlashToSearch(page))

  test('nothing is wider than the screen', async () => {
    await unfold(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})

test('the quickstart works as it is pasted', async () => {
  const { key } = await house.owner()
  const [, ...steps] = stepsFor(house.url)
  const script = [
    `export URL=${house.url} KEY=${key}`,
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
