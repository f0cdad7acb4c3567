import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { origin, saying, service } from './trial-service.ts'

async function atTheConsole(path = '') {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
  await bodyOf(client.agents.update({ params: { id: agent.id }, body: { name: 'Scout' } }))
  const visited = await openAsOwner(client, { viewport: { width: 1280, height: 800 } })
  await visited.page.goto(`${origin}/console${path}`)
  return { client, agent, ...visited }
}

const found = 'dialog.palette a'

/** The script of the palette is loaded when a person opens it first. */
async function openBy(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key)
  await page.locator('dialog.palette[open] input').waitFor()
}

describe('the palette', () => {
  test('opens by Ctrl-K, finds an agent and freezes it by keyboard alone', async () => {
    const { client, agent, page, complaints } = await atTheConsole()
    await openBy(page, 'Control+k')
    await page.keyboard.type('freeze sco')
    await page.locator('.palette [data-question="freeze sco"]').getByText('Freeze Scout').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console/agents/${agent.id}#do:*`)
    await saying(page, 'dialog.form[open] button', 'Freeze')
    await page.locator('dialog.form[open] :is(input, textarea):focus').fill('Unusual')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('h1 .status').getByText('frozen').waitFor()
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('frozen')
    expect(complaints).toEqual([])
  })

  test('moves with the arrow keys, goes on typing from a result, and closes by Escape', async () => {
    const { page } = await atTheConsole()
    await openBy(page, '/')
    await page.keyboard.type('web')
    await page
      .locator('.palette [data-question="web"] li:first-child')
      .filter({ hasText: 'New webhook' })
      .waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await page.locator(`${found}:focus`).innerText()).toContain('New webhook')
    await page.keyboard.type('h')
    expect(await page.locator('.palette input').inputValue()).toBe('webh')
    await page.keyboard.press('ArrowUp')
    expect(await page.locator(`${found}:focus`).count()).toBe(1)
    await page.keyboard.press('Escape')
    expect(await page.locator('dialog.palette[open]').count()).toBe(0)
  })

  test('leaves a slash to the field in which a person types', async () => {
    const { page } = await atTheConsole('/settings')
    await page.getByLabel('Browser name').fill('')
    await page.getByLabel('Browser name').press('/')
    expect(await page.getByLabel('Browser name').inputValue()).toBe('/')
    expect(await page.locator('dialog.palette[open]').count()).toBe(0)
  })

  test('answers a question in place', async () => {
    const { client, agent, page } = await atTheConsole()
    await anIntent(client, agent.id, { merchant: 'Bookshop' })
    await page.locator('a.find').click()
    await page.locator('dialog.palette[open] input').waitFor()
    await page.keyboard.type('What is waiting?')
    await page.locator(found, { hasText: 'Ask: What is waiting?' }).click()
    await saying(page, '.palette .talk', 'to Bookshop')
    expect(new URL(page.url()).pathname).toBe('/console')
  })
})

describe('the bar of places', () => {
  test('folds to its icons, and stays so on the next page', async () => {
    const { page } = await atTheConsole()
    const bar = page.locator('.places')
    const widthOf = async () => (await bar.boundingBox())?.width
    expect(await widthOf()).toBe(216)
    await page.getByRole('button', { name: 'Collapse' }).click()
    expect(await widthOf()).toBe(56)
    await bar.getByRole('link', { name: 'Agents' }).click()
    await page.waitForURL('**/console/agents')
    expect(await widthOf()).toBe(56)
    expect(await axeFindings(page)).toEqual([])
  })

  test('is at the bottom of a phone, with the other places behind More', async () => {
    const { page } = await atTheConsole()
    await page.setViewportSize({ width: 390, height: 844 })
    const box = await page.locator('.places').boundingBox()
    expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBe(844)
    expect(await page.getByRole('link', { name: 'Developers' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('link', { name: 'Developers' }).click()
    await page.waitForURL('**/console/keys')
  })

  test('has the current tab in sight on a phone', async () => {
    const { page, agent } = await atTheConsole()
    await page.setViewportSize({ width: 390, height: 844 })
    for (const path of ['agents', `agents/${agent.id}?tab=tokens`, 'tokens']) {
      await page.goto(`${origin}/console/${path}`)
      for (const tab of await page.locator('.tabs [aria-current]').all()) {
        const { x = -1, width = 0 } = (await tab.boundingBox()) ?? {}
        expect([path, x >= 0 && x + width <= 390]).toEqual([path, true])
      }
    }
  })
})
