import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgentUnder, anIntent } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { origin, service } from './trial-service.ts'

/** A button that would freeze the agent, in a page that says that it is for this person. */
const markupFor = (personId: string, agentId: string): string =>
  `<html data-person=${personId}><main id=found>Prize<form method=dialog data-operation=POST&#32;/agents/${agentId}/freeze><button>Claim</button></form></main>`

async function anOwnerAtTheList() {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
  const visited = await openAsOwner(client, { viewport: { width: 1280, height: 800 } })
  const { page } = visited
  const personId = String(await page.evaluate('document.documentElement.dataset.person'))
  const merchant = markupFor(personId, agent.id)
  const intent = await anIntent(client, agent.id, { merchant })
  return { client, agent, intent, merchant, ...visited }
}

const marked = '[data-operation$="/freeze"]'

/** The address answers with the text as JSON, which a browser shows as text. */
const answerBy = (page: Page, address: string, text: string) =>
  page.route(address, route => route.fulfill({ contentType: 'application/json', body: text }))

describe('text of a third party', () => {
  test('stays text if an address names a list as CSV for the panel', async () => {
    const { page, merchant } = await anOwnerAtTheList()
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname))
    const csv = await page.request.get(`${origin}/console/csv/intents`)
    expect(await csv.text()).toContain(merchant)
    await page.goto(`${origin}/console/intents#open=console/csv/intents`)
    await page.locator('tbody tr').first().waitFor()
    // What the script asks for was sent before this.
    await page.evaluate('fetch(location.href).then(answer => answer.text())')
    expect(await page.locator(`dialog, main ${marked}`).count()).toBe(0)
    expect(asked).not.toContain('/console/csv/intents')
  })

  test('stays text if it comes in the place of a record, a live part or a search', async () => {
    const { page, intent, merchant } = await anOwnerAtTheList()
    await page.goto(`${origin}/console/intents`)
    await answerBy(page, '**/console/search?part=found*', merchant)
    await page.keyboard.press('Control+k')
    await page.locator('dialog.palette[open] input').waitFor()
    const found = page.waitForResponse('**/console/search?part=found*')
    await page.keyboard.type('prize')
    await (await found).finished()
    await page.keyboard.press('Escape')
    await answerBy(page, '**/console/intents?part=*', merchant)
    const part = page.waitForResponse('**/console/intents?part=*')
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
    await (await part).finished()
    await page.locator('live-part[data-stale]').first().waitFor()
    expect(await page.locator(marked).count()).toBe(0)
    await answerBy(page, `**/console/intents/${intent.id}`, merchant)
    await page.locator('a[data-panel]').first().click()
    await page.waitForURL(`**/console/intents/${intent.id}`)
    await until('the answer is shown', async () => (await page.locator('body').innerText()).includes('Prize'))
    expect(await page.locator(marked).count()).toBe(0)
  })
})
