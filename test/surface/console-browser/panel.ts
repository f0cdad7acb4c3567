import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgentUnder, anIntent } from '../../support/factories.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { origin, service } from './trial-service.ts'

const shops = ['Bakery', 'Bookshop', 'Florist']

async function aListOfThree() {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
  const ids: string[] = []
  for (const merchant of shops) ids.unshift((await anIntent(client, agent.id, { merchant })).id)
  const visited = await openAsOwner(client, { viewport: { width: 1280, height: 800 } })
  await visited.page.goto(`${origin}/console/intents`)
  return { ...visited, ids }
}

const shown = (page: Page, shop: string) =>
  page.locator('dialog.panel h1').filter({ hasText: shop }).waitFor()

describe('the panel of a list', () => {
  test('goes to the next and the previous row by j and k, and stays at the ends', async () => {
    const { page, ids, complaints } = await aListOfThree()
    await page.locator('a[data-panel]').first().click()
    await shown(page, 'Florist')
    await page.keyboard.press('k')
    await page.keyboard.press('j')
    await shown(page, 'Bookshop')
    expect(new URL(page.url()).hash).toBe(`#open=console/intents/${ids[1]}`)
    expect(await page.evaluate('document.activeElement.matches("dialog.panel h1")')).toBe(true)
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await shown(page, 'Bakery')
    await page.keyboard.press('k')
    await shown(page, 'Bookshop')
    await page.keyboard.press('Escape')
    await page.locator('dialog.panel').waitFor({ state: 'detached' })
    await page.waitForURL(({ hash }) => hash === '')
    expect(complaints).toEqual([])
  })

  test('shows the last of several rows if keys come faster than answers, and leaves keys to fields', async () => {
    const { page, ids } = await aListOfThree()
    const first = Promise.withResolvers<void>()
    await page.route(`**/console/intents/${ids[1]}`, async route => {
      await first.promise
      await route.continue()
    })
    await page.locator('a[data-panel]').first().click()
    await shown(page, 'Florist')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await shown(page, 'Bakery')
    const late = page.waitForResponse(`**/console/intents/${ids[1]}`)
    first.resolve()
    await (await late).finished()
    await page.locator('dialog.panel button[commandfor]', { hasText: 'Cancel' }).first().click()
    await page.locator('dialog.form[open] :is(input, textarea)').first().press('k')
    await page.keyboard.press('Escape')
    // The form has input now, which another record would discard.
    await page.locator('dialog.panel a', { hasText: 'Open page' }).press('k')
    expect(await page.locator('dialog.panel h1').innerText()).toContain('Bakery')
  })
})
