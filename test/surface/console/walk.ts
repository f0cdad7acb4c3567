import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { axeFindings } from '../../support/web/axe.ts'
import { fixedOnPaper } from '../../support/web/paper.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { aHostileAccount, linksOn } from './hostile-account.ts'
import { service } from './visitors.ts'

const PHONE = { width: 320, height: 640 }
const DESK = { width: 1440, height: 900 }

/** Each button opens one dialog, and no two elements have one id. */
const UNCLEAR = `[...document.querySelectorAll('[commandfor], [id]')]
  .map(one => one.getAttribute('commandfor') ?? one.id)
  .filter(id => document.querySelectorAll('#' + CSS.escape(id)).length !== 1)`

/** Controls too small for a thumb, except links within text. */
const SMALL = `[...document.querySelectorAll('button, .button, summary, select, input, .places a')]
  .filter(one => !one.matches('[type="checkbox"], [type="radio"]') && one.checkVisibility())
  .filter(one => one.getBoundingClientRect().height < 43.9)
  .map(one => one.outerHTML.slice(0, 100))`

/** Controls of a title on each other, of which one could not be tapped. */
const TOUCHING = `[...document.querySelectorAll('.head :is(button, .button)')]
  .filter(one => one.checkVisibility())
  .map(one => ({ one, ...one.getBoundingClientRect().toJSON() }))
  .flatMap((a, n, all) => all.slice(n + 1)
    .filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
    .map(b => [a, b].map(({ one }) => one.outerHTML.slice(0, 100))))`

/** Cells beyond their row, on which the next row lies. */
const BEYOND_THEIR_ROW = `[...document.querySelectorAll('tbody td')]
  .filter(one => one.checkVisibility())
  .filter(one => one.getBoundingClientRect().bottom > one.parentElement.getBoundingClientRect().bottom + 1)
  .map(one => one.outerHTML.slice(0, 100))`

/** Charts are drawn for a new width with the next frame, which comes late on a busy machine. */
const NEXT_FRAMES = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** Asks for answers of all kinds: records, a proposal, and an unknown request. */
async function askOn(page: Page): Promise<void> {
  for (const [asked, answered] of [
    ['What is waiting?', '.talk .answer:has-text("wait")'],
    ['Let my agent spend 20 € a day', '.talk article a.button'],
    ['Show me the weather', '.talk .answer:has-text("I did not understand that")'],
  ] as const) {
    await page.locator('#ask').fill(asked)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.locator(answered).waitFor()
    await page.locator('form[data-ask] button.main:enabled').waitFor()
  }
}

/** Phone and desktop, alternating light and dark; pages that scripts write in all four. */
const looksAt = (kind: string, isDark: boolean) => {
  const turn = [[DESK, !isDark] as const, [PHONE, isDark] as const]
  return kind === 'ask' ? [...turn, [DESK, isDark] as const, [PHONE, !isDark] as const] : turn
}

test('every page keeps what others wrote a text, fits the narrowest phone and its thumbs and a desk, and axe finds nothing on it', async () => {
  const owner = await service.owner()
  const { client } = owner
  const { page, complaints } = await openAsOwner(client, { viewport: PHONE })
  await aHostileAccount(owner)
  // The search answers questions itself, so no page links to this one.
  const home = new URL('console', page.url()).href
  const seen = new Map([
    ['', home],
    ['ask', `${home}/ask`],
  ])
  const findings: unknown[] = []
  let isDark = false
  for (const [kind, url] of seen) {
    isDark = !isDark
    await page.goto(url)
    await page.locator('h1').first().waitFor()
    if (kind === 'ask') await askOn(page)
    for (const [viewport, isInDark] of looksAt(kind, isDark)) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: isInDark ? 'dark' : 'light' })
      await page.evaluate(NEXT_FRAMES)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      if (width !== viewport.width) findings.push([kind, width])
      for (const id of (await page.evaluate(UNCLEAR)) as string[]) findings.push([kind, 'unclear id', id])
      for (const finding of await axeFindings(page)) findings.push([kind, viewport.width, finding])
      for (const cell of (await page.evaluate(BEYOND_THEIR_ROW)) as string[])
        findings.push([kind, 'beyond its row', cell])
      for (const both of (await page.evaluate(TOUCHING)) as string[][])
        findings.push([kind, 'touching', both])
      if (viewport === PHONE)
        for (const small of (await page.evaluate(SMALL)) as string[]) findings.push([kind, 'small', small])
    }
    for (const fixed of await fixedOnPaper(page)) findings.push([kind, 'fixed on paper', fixed])
    for (const [next, link] of await linksOn(page)) if (!seen.has(next)) seen.set(next, link)
  }
  expect(findings).toEqual([])
  expect(complaints).toEqual([])
  expect(seen.size).toBeGreaterThan(45)
  // Some fifty pages, each measured up to four times: minutes on a busy machine.
}, 900_000)
