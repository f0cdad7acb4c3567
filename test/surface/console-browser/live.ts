import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgent, anIntent, bodyOf } from '../../support/factories.ts'
import {
  agentNamed,
  anOwnerAtThePage,
  followed,
  openTab,
  origin,
  saying,
  theOwnerAtThePage,
} from './trial-service.ts'

const SELECTED = `(({ value, selectionStart, selectionEnd }) =>
  value?.slice(selectionStart, selectionEnd))(document.activeElement)`

const streamsIn = (pages: readonly Page[]) => {
  const streams: Page[] = []
  for (const page of pages)
    page.on('request', request => {
      if (request.url().endsWith('/events/stream')) streams.push(page)
    })
  return streams
}

describe('a live part', () => {
  test('shows what has happened, and keeps what was typed, the focus and the selection', async () => {
    const { client, ownerId, page, complaints } = await theOwnerAtThePage()
    await followed(ownerId)
    await agentNamed(client, 'Scout')
    await saying(page, '#agents li', 'Scout: active')
    const reason = page.locator('#agents li').filter({ hasText: 'Scout' }).getByLabel('Reason')
    await reason.fill('Too curious')
    await page.evaluate('document.activeElement.setSelectionRange(4, 7)')
    const { id } = await agentNamed(client, 'Miner')
    await saying(page, '#agents li:first-child', 'Miner: active')
    await bodyOf(client.agents.freeze({ params: { id }, body: {} }))
    await saying(page, '#agents li:first-child', 'Miner: frozen')
    expect(await reason.inputValue()).toBe('Too curious')
    expect(await page.evaluate(SELECTED)).toBe('cur')
    expect(complaints).toEqual([])
  })

  test('keeps what was typed about something that has gone, and says that it has', async () => {
    const { client, ownerId, page } = await theOwnerAtThePage()
    await followed(ownerId)
    const agent = await anAgent(client)
    const intent = await anIntent(client, agent.id)
    const row = page.locator(`[id="${intent.id}"]`)
    await row.getByLabel('Against it').fill('I was not done')
    await bodyOf(client.intents.deny({ params: { id: intent.id }, body: { reason: 'I was faster' } }))
    await row.filter({ hasText: 'This has changed in the meantime.' }).waitFor()
    expect(await row.getByLabel('Against it').inputValue()).toBe('I was not done')
    await row.getByRole('button', { name: 'Deny' }).click()
    await saying(page, '#waiting .refusal', /decided|denied|waits/)
    await row.getByLabel('Against it').fill('')
    await anIntent(client, agent.id, { merchant: 'Next' })
    await saying(page, '#waiting li', 'Next')
    expect(await row.count()).toBe(0)
  })

  test('stays and is marked as old while the service does not answer, and is new again afterwards', async () => {
    const { client, ownerId, page } = await theOwnerAtThePage()
    await followed(ownerId)
    await page.clock.install()
    await page.route('**/trial?part=*', route => route.fulfill({ status: 503, body: '{}' }))
    await agentNamed(client, 'Late')
    await saying(page, '#agents[data-stale]', 'This may be outdated')
    expect(await page.locator('#agents li').count()).toBeGreaterThan(0)
    await page.unroute('**/trial?part=*')
    await page.clock.runFor(10_000)
    // An answer of before may still arrive, and marks it as old once more.
    const renewed = page.locator('#agents:not([data-stale])').filter({ hasText: 'Late: active' })
    await renewed.filter({ hasNotText: 'This may be outdated' }).waitFor()
  })

  test('does not change while it is paused', async () => {
    const { client, ownerId, page } = await theOwnerAtThePage()
    await followed(ownerId)
    const pause = page.getByRole('button', { name: 'Pause' })
    await pause.click()
    expect(await pause.getAttribute('aria-pressed')).toBe('true')
    await agentNamed(client, 'Unseen')
    expect(await page.innerText('#agents')).not.toContain('Unseen')
    await pause.click()
    await saying(page, '#agents li', 'Unseen: active')
  })
})

test('a part that is paused while it is fetched stays as it is, too', async () => {
  const { client, ownerId, page } = await theOwnerAtThePage()
  await followed(ownerId)
  const asked = Promise.withResolvers<void>()
  const pressed = Promise.withResolvers<void>()
  await page.route('**/trial?part=*', async route => {
    asked.resolve()
    await pressed.promise
    await route.continue()
  })
  await agentNamed(client, 'Asked')
  await asked.promise
  const pause = page.getByRole('button', { name: 'Pause' })
  await pause.click()
  // Only the delayed answer can show this agent: the page fetches its parts once when its stream opens, and
  // that answer may show any agent created before the pause.
  await agentNamed(client, 'Covered')
  const answered = page.waitForResponse('**/trial?part=*')
  pressed.resolve()
  await (await answered).finished()
  await agentNamed(client, 'Later')
  expect(await pause.getAttribute('aria-pressed')).toBe('true')
  expect(await page.innerText('#agents')).not.toContain('Covered')
  await pause.click()
  await saying(page, '#agents li', 'Covered: active')
})

test('a page of the console follows the events by itself', async () => {
  const { client, ownerId, page, complaints } = await theOwnerAtThePage()
  await page.goto(`${origin}/console/agents`)
  await followed(ownerId)
  await agentNamed(client, 'Visible')
  await saying(page, 'live-part a', 'Visible')
  expect(complaints).toEqual([])
})

test('the open page of a key says that it was revoked elsewhere, and offers nothing more', async () => {
  const { client, ownerId, page, complaints } = await theOwnerAtThePage()
  const { id } = await bodyOf(client.keys.create({ body: { name: 'Build server', environment: 'sandbox' } }))
  await page.goto(`${origin}/console/keys/${id}`)
  await page.locator('h1').getByText('active').waitFor()
  await page.getByRole('button', { name: 'Revoke' }).waitFor()
  await followed(ownerId)
  await bodyOf(client.keys.revoke({ params: { id } }))
  await page.locator('h1').getByText('revoked').waitFor()
  await page.locator('#content form.operation').first().waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

describe('a browser with ten tabs', () => {
  test('reads one stream, updates every tab, and continues in another tab when the reader is closed', async () => {
    const { client, ownerId, page } = await anOwnerAtThePage()
    await followed(ownerId)
    const context = page.context()
    const tabs = await Promise.all(Array.from({ length: 9 }, () => openTab(context)))
    const streams = streamsIn(tabs)
    await agentNamed(client, 'Shared')
    await Promise.all([page, ...tabs].map(tab => saying(tab, '#agents li', 'Shared: active')))
    await followed(ownerId, 1)
    expect(streams).toEqual([])
    await page.close()
    await agentNamed(client, 'Heir')
    await Promise.all(tabs.map(tab => saying(tab, '#agents li', 'Heir: active')))
    expect(streams).toHaveLength(1)
    await followed(ownerId, 1)
  })
})

describe('a page whose stream is lost', () => {
  test('says so, asks every ten seconds, and says nothing once it is there again', async () => {
    const { client, page } = await theOwnerAtThePage()
    await page.route('**/events/stream', route => route.abort())
    await page.clock.install()
    await page.reload()
    await saying(page, '#stream', 'Live updates are disconnected.')
    await agentNamed(client, 'Polled')
    await page.clock.runFor(10_000)
    await saying(page, '#agents li', 'Polled: active')
    await page.unroute('**/events/stream')
    await page.clock.runFor(5_000)
    await page.locator('#stream:empty').waitFor({ state: 'attached' })
    await page.locator('[data-stale]').first().waitFor({ state: 'detached' })
    expect(await page.innerText('#stream')).toBe('')
  })
})
