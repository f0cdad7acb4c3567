import { describe, expect, test } from '@jest/globals'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { anAuthorization, aRegisteredClient, CALLBACK } from '../../support/control/assistants.ts'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { aDevice } from '../../support/identity/devices.ts'
import { aTerminal } from '../../support/identity/pairing.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { faintTexts } from '../../support/web/contrast.js'
import { open, openAsOwner, visit } from './devices.ts'
import { origin, service } from './pages-service.ts'

const phone = { viewport: { width: 360, height: 740 } }
const desk = { viewport: { width: 1280, height: 800 } }
const looks = [
  ['a phone in light', { ...phone, colorScheme: 'light', locale: 'en-GB' }],
  ['a phone in dark', { ...phone, colorScheme: 'dark', locale: 'de-DE' }],
  ['a desk in light', { ...desk, colorScheme: 'light', locale: 'de-DE' }],
  ['a desk in dark', { ...desk, colorScheme: 'dark', locale: 'en-GB' }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[]

/** The browser reports the status of a page itself. */
const OF_THE_WRONG_REQUEST =
  'Failed to load resource: the server responded with a status of 400 (Bad Request)'

const hostile = `<img src=x onerror=alert(1)>\u202e"'&${'w'.repeat(150)}`

async function intentsInEachState() {
  const { client } = await service.owner()
  const rules = { name: 'Books', autoApproveLimitEuros: 10, maxTransactionEuros: 100, dailyLimitEuros: 500 }
  const agent = await anAgentUnder(client, { ...rules, amountTolerancePercent: 5 })
  const [waiting, denied, approved, strange] = await Promise.all([
    anIntent(client, agent.id),
    anIntent(client, agent.id, { amountEuros: 26 }),
    anIntent(client, agent.id, { amountEuros: 27 }),
    anIntent(client, agent.id, { amountEuros: 28, merchant: hostile, purpose: hostile }),
  ])
  await bodyOf(client.intents.deny({ params: { id: denied.id }, body: { reason: 'Too expensive' } }))
  await bodyOf(client.intents.approve({ params: { id: approved.id }, body: { comment: 'Go ahead' } }))
  return { client, intents: [waiting, denied, approved, strange] }
}

/** With a name as long and strange as possible. */
const aWaitingCode = async () => (await aTerminal(service.client(), hostile.slice(0, 100))).code

/** With a name as long and strange as possible. */
async function aConsentPage(changed: { readonly resource?: undefined } = {}): Promise<string> {
  const client_id = await aRegisteredClient(origin, {
    client_name: hostile.slice(0, 100),
    redirect_uris: [CALLBACK],
  })
  const { query } = await anAuthorization(origin, { client_id, ...changed })
  return `oauth/authorize?${new URLSearchParams(query)}`
}

/** With a name as long and strange as possible. */
const aUserCode = async () =>
  (await aDevice(service.client(), { deviceName: hostile.replace('\u202e', '').slice(0, 100) })).userCode

async function expectReadable(page: Page, { viewport, locale }: (typeof looks)[number][1]): Promise<void> {
  await page.locator('h1:visible').first().waitFor()
  expect([page.url(), await axeFindings(page)]).toEqual([page.url(), []])
  expect([page.url(), await page.evaluate(faintTexts)]).toEqual([page.url(), []])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
  expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2))
}

const { client, intents } = await intentsInEachState()

let cookies: ReturnType<typeof cookiesOfOwner> | undefined

const cookiesOfOwner = async () => (await openAsOwner(client)).page.context().storageState()

async function visitSignedIn(path: string, look: BrowserContextOptions) {
  cookies ??= cookiesOfOwner()
  return visit(`${origin}/${path}`, { ...look, storageState: await cookies })
}

describe.each(looks)('on %s', (_, look) => {
  test('every page is readable and accessible, and loads only what is ours', async () => {
    const { page, complaints, requests } = await visitSignedIn('approve', look)
    // The other looks have the same elements.
    const shown = look === looks[0][1] ? intents : intents.slice(0, 1)
    const paths = [
      'approve',
      'login',
      'join',
      `cli/${await aWaitingCode()}`,
      'device',
      'oauth/authorize',
      await aConsentPage(),
      await aConsentPage({ resource: undefined }),
      `device?code=${await aUserCode()}`,
      ...shown.map(({ id }) => `approve/${id}`),
    ]
    for (const path of paths) {
      await page.goto(`${origin}/${path}`)
      if (path.startsWith('device?'))
        await page.locator('blockquote').filter({ hasText: 'Let the device' }).waitFor()
      if (path.startsWith('cli/'))
        await page.locator('blockquote').filter({ hasText: 'command line' }).waitFor()
      if (path.endsWith(String(intents[0]?.id)))
        await page.locator('blockquote').filter({ hasText: '26.25' }).waitFor()
      await expectReadable(page, look)
    }
    await page.goto(`${service.url}/login`)
    await expectReadable(page, look)
    expect(complaints).toEqual([OF_THE_WRONG_REQUEST])
    expect(requests.filter(url => !url.startsWith(origin) && !url.startsWith(service.url))).toEqual([])
  })
})

test('names with markup, endless words or bidirectional controls are shown as text', async () => {
  const strange = intents.at(-1)
  const { page, complaints } = await visitSignedIn(`approve/${strange?.id}`, { ...phone, locale: 'en-GB' })
  const heading = await page.locator('h1').innerText()
  expect(heading).toContain('<img src=x onerror=alert(1)>\ufffd')
  expect(heading).toMatch(/…$/)
  expect(heading.length).toBeLessThan(110)
  expect(await page.locator('main img').count()).toBe(0)
  expect(await page.locator('dd').first().innerText()).toContain('w'.repeat(150))
  expect(complaints).toEqual([])
})

test('on a phone the approve button is above the fold, and all controls are large enough', async () => {
  const large = { viewport: { width: 390, height: 844 }, locale: 'en-GB', hasTouch: true, isMobile: true }
  const { page } = await visitSignedIn(`approve/${intents[0]?.id}`, large)
  await page.locator('blockquote').filter({ hasText: '26.25' }).waitFor()
  const button = await page.getByRole('button', { name: 'Approve with passkey' }).boundingBox()
  expect(Number(button?.y) + Number(button?.height)).toBeLessThanOrEqual(844)
  expect(await page.innerText('#limits + ul')).toMatch(/Limit per payment\s+up to €\s100\.00/)
  for (const path of [`approve/${intents[0]?.id}`, 'approve', `approve/${intents[2]?.id}`]) {
    await page.goto(`${origin}/${path}`)
    const small = await page
      .locator(':is(a, button, textarea):visible:not(.skip)')
      .evaluateAll(all =>
        all.filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML),
      )
    expect([path, small]).toEqual([path, []])
  }
  await page.goto(`${origin}/approve`)
  expect(await page.innerText('main')).toContain('For A paper on caching')
})

test('a person without a passkey sees that approving needs one, and can create it', async () => {
  const { client } = await service.owner()
  const { id } = await anIntent(
    client,
    (await anAgentUnder(client, { name: 'Books', autoApproveLimitEuros: 10 })).id,
  )
  const { url } = await bodyOf(client.console.createLink({ body: {} }))
  const { page } = await open(String(url))
  await page.locator('[data-action="redeem"]:visible').click()
  await page.waitForURL('**/join')
  await page.goto(`${origin}/approve/${id}`)
  await page.getByText('Approving needs a passkey').waitFor()
  expect(await page.getByRole('button', { name: 'Approve with passkey' }).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Create your passkey' }).click()
  await page.waitForURL('**/join?to=*')
})
