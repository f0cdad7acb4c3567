import { describe, expect, test } from '@jest/globals'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { anAgentUnder, anIntent, aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { pressByKeyboard } from '../../support/web/keyboard.ts'
import { open, openAsOwner, visit } from '../console-pages/devices.ts'
import { origin, saying, service } from './trial-service.ts'

const rules = { name: 'Books', autoApproveLimitEuros: 10, maxTransactionEuros: 50 }

async function anAccount() {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, rules)
  const intent = await anIntent(client, agent.id)
  return { client: client as TestClient, agent, intent }
}

const statusOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.intents.get({ params: { id } }))).status

/** The elements that the Tab key reaches in the content, and those of them without a visible focus. */
const WALK = `(() => {
  const can = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"]'
  const here = [...document.querySelectorAll('main ' + can.split(', ').join(', main '))]
  const all = here.filter(one => one.checkVisibility({ contentVisibilityAuto: true }) && !one.disabled)
  return all.map(one => one.outerHTML.slice(0, 120))
})()`
const FOCUSED = `(() => {
  const one = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(one)
  return {
    html: one.outerHTML.slice(0, 120),
    isInside: one.closest('main') !== null,
    isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
  }
})()`

interface Focused {
  readonly html: string
  readonly isInside: boolean
  readonly isSeen: boolean
}

async function unreached(page: Page): Promise<string[]> {
  await page.locator('#content').focus()
  const left = new Set((await page.evaluate(WALK)) as string[])
  const trouble: string[] = []
  for (;;) {
    await page.keyboard.press('Tab')
    const { html, isInside, isSeen } = (await page.evaluate(FOCUSED)) as Focused
    if (!isInside) return [...trouble, ...[...left].map(one => `not reached: ${one}`)]
    if (!isSeen) trouble.push(`not seen: ${html}`)
    left.delete(html)
  }
}

describe('by keyboard alone', () => {
  test('an intent is approved', async () => {
    const { client, intent } = await anAccount()
    const { page, complaints } = await openAsOwner(client)
    await page.goto(`${origin}/console/inbox`)
    await pressByKeyboard(page, 'Skip to content')
    await pressByKeyboard(page, 'Approve with passkey')
    await saying(page, 'dialog blockquote', intent.id)
    await pressByKeyboard(page, 'Sign with passkey')
    await saying(page, '#news', 'Approved.')
    expect(await statusOf(client, intent.id)).toBe('approved')
    expect(complaints).toEqual([])
  })

  test('every list, form and button is reached, and the focus is seen', async () => {
    const { client, agent, intent } = await anAccount()
    const { page } = await openAsOwner(client)
    // The first message of the stream fetches all parts again, which could happen during the walk.
    await page.route('**/events/stream', () => undefined)
    const places = [
      '',
      '/inbox',
      `/intents/${intent.id}`,
      '/agents',
      `/agents/${agent.id}`,
      `/policies/${agent.policyId}`,
      `/wallets/${agent.walletId}`,
      '/deliveries',
      '/keys',
      '/settings',
    ]
    const trouble: string[] = []
    for (const place of places) {
      await page.goto(`${origin}/console${place}`)
      await page.evaluate(`document.querySelectorAll('main details').forEach(one => { one.open = true })`)
      for (const one of await unreached(page)) trouble.push(`${place} ${one}`)
    }
    expect(trouble).toEqual([])
  })
})

/** Looks for accessibility: at 400 %, a window of 1280 × 1024 is 320 × 256. */
const looks: readonly (readonly [string, BrowserContextOptions])[] = [
  ['at a zoom of 400 %', { viewport: { width: 320, height: 256 } }],
  ['with forced colours', { forcedColors: 'active', viewport: { width: 1280, height: 800 } }],
  ['with reduced motion', { reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } }],
]

/** Buttons that only their colour distinguishes from text, and moving elements. */
const UNTOLD = `[...document.querySelectorAll('button, .button, .status, input, [aria-current]')]
  .filter(one => one.checkVisibility())
  .filter(one => {
    const { borderTopStyle, borderTopWidth, outlineStyle } = getComputedStyle(one)
    return (borderTopStyle === 'none' || parseFloat(borderTopWidth) < 1) && outlineStyle === 'none'
  }).map(one => one.outerHTML.slice(0, 120))`
const MOVING = `document.getAnimations().map(({ effect }) => effect.target.outerHTML.slice(0, 120)).concat(
  [...document.querySelectorAll('*')].filter(one => getComputedStyle(one).transitionDuration.split(', ').some(time => time !== '0s'))
    .map(one => one.outerHTML.slice(0, 120)))`

describe.each(looks)('%s', (name, look) => {
  test('an intent is found, understood and approved, and nothing is cut off', async () => {
    const { client, intent } = await anAccount()
    const { page } = await openAsOwner(client, look)
    for (const place of ['', `/intents/${intent.id}`, '/inbox']) {
      await page.goto(`${origin}/console${place}`)
      const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([place, width, await axeFindings(page)]).toEqual([place, 0, []])
      if (name.includes('colours')) expect([place, await page.evaluate(UNTOLD)]).toEqual([place, []])
      if (name.includes('motion')) expect([place, await page.evaluate(MOVING)]).toEqual([place, []])
    }
    await page.getByRole('button', { name: 'Approve with passkey' }).click()
    await saying(page, 'dialog blockquote', intent.id)
    expect(await page.evaluate('document.querySelector("dialog").scrollWidth <= innerWidth')).toBe(true)
    if (name.includes('motion')) expect(await page.evaluate(MOVING)).toEqual([])
    await page.getByRole('button', { name: 'Sign with passkey' }).click()
    await saying(page, '#news', 'Approved.')
    expect(await statusOf(client, intent.id)).toBe('approved')
  })
})

test('a session that ends in the middle of a long form asks for the passkey, and what was typed is saved', async () => {
  const { client } = await anAccount()
  const policy = await aPolicy(client, { name: 'Narrow' })
  const { page } = await openAsOwner(client)
  await page.goto(`${origin}/console/policies/${policy.id}`)
  await page.locator('[name="dailyLimitEuros"]').fill('70')
  await page.locator('[name="merchantAllowlist"]').fill('a.example\nb.example')
  await page.locator('[name="requireIntent"]').check()
  const { data } = await bodyOf(client.console.sessions({ query: { status: 'active' } }))
  for (const { id } of data) await bodyOf(client.console.endSession({ params: { id } }))
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.locator('dialog[open]').waitFor({ state: 'detached' })
  expect(await page.locator('[name="merchantAllowlist"]').inputValue()).toBe('a.example\nb.example')
  await page.getByRole('button', { name: 'Save' }).click()
  await saying(page, '#news', 'Saved.')
  expect(await bodyOf(client.policies.get({ params: { id: policy.id } }))).toMatchObject({
    dailyLimitEuros: 70,
    merchantAllowlist: ['a.example', 'b.example'],
    requireIntent: true,
  })
})

const addressesIn = async (page: Page, part: string) =>
  (await page.evaluate(`[...document.querySelectorAll('${part} a')].map(({ href }) => href)`)) as string[]

test('without scripts every page is read, says what needs them, and offers nothing that would not work', async () => {
  const { client, agent, intent } = await anAccount()
  const { page } = await openAsOwner(client)
  await page.goto(`${origin}/console`)
  const places = await addressesIn(page, '.places')
  const links = new Set([...places, ...(await addressesIn(page, '#account li:not(:has([href$=docs]))'))])
  for (const place of [...links]) {
    await page.goto(place)
    for (const tab of await addressesIn(page, '.tabs li:not(:has([href$=docs]))')) links.add(tab)
  }
  const storageState = await page.context().storageState()
  const plain = await visit('about:blank', { javaScriptEnabled: false, storageState })
  const records = [`agents/${agent.id}`, `intents/${intent.id}`, `policies/${agent.policyId}`]
  const addresses = [...links, ...records.map(path => `${origin}/console/${path}`)]
  expect(addresses.length).toBeGreaterThan(45)
  for (const address of addresses) {
    const answer = await plain.page.goto(address)
    const seen = await plain.page.locator('main').innerText()
    expect([address, answer?.status()]).toEqual([address, 200])
    expect(seen).toContain('Without JavaScript this page is read-only.')
    expect(seen.length).toBeGreaterThan(160)
    const pressable = plain.page.locator('main form[data-operation] button:visible, main [data-copy]:visible')
    expect([address, await pressable.count()]).toEqual([address, 0])
  }
  expect(plain.complaints).toEqual([])
  expect(await plain.page.locator('h1').innerText()).toContain('Books')
})

test('a signed-out person without JavaScript sees where to sign in', async () => {
  const { page } = await open(`${origin}/console/agents`, { javaScriptEnabled: false })
  expect(page.url()).toContain('/login?to=console%2Fagents')
  expect((await page.locator('main').innerText()).length).toBeGreaterThan(40)
})
