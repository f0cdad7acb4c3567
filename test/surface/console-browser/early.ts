import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { aPolicy, bodyOf } from '../../support/factories.ts'
import { agentNamed, origin, saying, theOwnerAtThePage } from './trial-service.ts'

/** Opens a page of the console whose modules do not arrive before `release` is called. */
async function opened(page: Page, path: string) {
  let release: () => void = () => undefined
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route(/scripts\/console-\w+\.js/, async route => {
    await released
    await route.continue()
  })
  await page.goto(`${origin}/console/${path}`, { waitUntil: 'commit' })
  return release
}

describe('before the scripts of a page listen', () => {
  test('a form that is sent is not sent by the browser, and is done once, with what was typed', async () => {
    const { client, page } = await theOwnerAtThePage()
    const release = await opened(page, 'policies')
    const addresses: string[] = []
    page.on('framenavigated', frame => addresses.push(frame.url()))
    await page.locator('button[commandfor]', { hasText: 'New limit template' }).first().click()
    await page.getByLabel('Name').fill('Typed early')
    const button = page.getByRole('dialog').getByRole('button', { name: 'New limit template' })
    await button.click()
    await button.click({ force: true })
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    release()
    await page.waitForURL('**/console/policies/policy_*')
    expect(addresses.filter(address => address.includes('?') || address.endsWith('/policies'))).toEqual([])
    const { data } = await bodyOf(client.policies.list({ query: { limit: 100 } }))
    expect(data.filter(({ name }) => name === 'Typed early')).toHaveLength(1)
  })

  test('a button that is pressed does what it is for', async () => {
    const { client, page } = await theOwnerAtThePage()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const { id } = await agentNamed(client, 'Early')
    const release = await opened(page, `agents/${id}`)
    await page.getByRole('button', { name: 'More about this agent' }).click()
    await page.locator(`[data-copy="${id}"]`).click()
    release()
    await saying(page, '#news', 'Copied')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id)
  })

  test('lets the person choose push events, without adding them to the address', async () => {
    const { page } = await theOwnerAtThePage({ permissions: ['notifications'] })
    const release = await opened(page, 'settings')
    await page.getByLabel('Browser name').fill('My phone')
    await page.getByRole('button', { name: 'Turn on notifications' }).click()
    release()
    await saying(page, ':is(#trouble, #news)', /\w/)
    expect(page.url()).toBe(`${origin}/console/settings`)
    expect(await page.getByLabel('Browser name').inputValue()).toBe('My phone')
  })

  test('a page of which a script does not arrive says so, and sends nothing', async () => {
    const { client, page } = await theOwnerAtThePage()
    await page.route(/scripts\/forms-\w+\.js/, route => route.abort())
    await page.goto(`${origin}/console/policies`)
    await saying(page, '#trouble', 'Reload the page')
    await page.locator('button[commandfor]', { hasText: 'New limit template' }).first().click()
    await page.getByLabel('Name').fill('Never')
    await page.getByRole('dialog').getByRole('button', { name: 'New limit template' }).click()
    expect([page.url(), await page.getByLabel('Name').inputValue()]).toEqual([
      `${origin}/console/policies`,
      'Never',
    ])
    const { data } = await bodyOf(client.policies.list({ query: { limit: 100 } }))
    expect(data.some(({ name }) => name === 'Never')).toBe(false)
  })
})

test('what is typed in one form stays when another one of the page is done', async () => {
  const { client, page } = await theOwnerAtThePage()
  const policy = await aPolicy(client, { name: 'Kept' })
  await page.goto(`${origin}/console/policies/${policy.id}`)
  const rule = page.locator('[name="dailyLimitEuros"]')
  await rule.fill('70')
  await page.getByRole('button', { name: 'Apply to agents' }).click()
  await page.locator('dialog').getByRole('button', { name: 'Apply to agents' }).click()
  await saying(page, '#news', 'Applied.')
  expect(await rule.inputValue()).toBe('70')
  await page.getByRole('button', { name: 'Save' }).click()
  await saying(page, '#news', 'Saved.')
  expect((await bodyOf(client.policies.get({ params: { id: policy.id } }))).dailyLimitEuros).toBe(70)
})

test('sends a picked time as the instant of the reader’s zone', async () => {
  const { page } = await theOwnerAtThePage({ timezoneId: 'Asia/Tokyo' })
  await page.goto(`${origin}/console/keys`)
  await page.locator('button[commandfor]', { hasText: 'New key' }).click()
  await page.getByLabel('Name').fill('Build server')
  await page.locator('form[data-operation] [name="environment"]').selectOption('sandbox')
  await page.getByLabel('Expires').fill('2030-01-31T10:00')
  const sent = page.waitForRequest(request => request.postData()?.includes('expiresAt') === true)
  await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ expiresAt: '2030-01-31T01:00:00.000Z' })
})
