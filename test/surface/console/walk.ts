import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { aPolicy, bodyOf } from '../../support/factories.ts'
import { pay } from '../../support/insight/paying.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { fixedOnPaper } from '../../support/web/paper.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { connectAssistant, service } from './visitors.ts'

const PHONE = { width: 320, height: 640 }
const DESK = { width: 1440, height: 900 }

/** Markup, the end of a script, a bidirectional control, template braces, and an endless word. */
const hostile = `<img src=x onerror=alert(1)></script>\u202e"'&{{7*7}}🎈${'w'.repeat(120)}`

/** An account with hostile text everywhere, and a record of most kinds. */
async function aHostileAccount(owner: Awaited<ReturnType<typeof service.owner>>): Promise<void> {
  const { client } = owner
  const { id: policyId } = await aPolicy(client, { name: hostile, autoApproveLimitEuros: 20 })
  const agent = await bodyOf(
    client.agents.create({
      body: {
        name: hostile,
        description: hostile,
        externalId: hostile,
        policyId,
        metadata: { note: hostile },
      },
    }),
  )
  const agentId = agent.id
  const wallet = await bodyOf(client.wallets.create({ body: { name: hostile } }))
  await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 100 } }))
  await bodyOf(
    client.agents.fund({ params: { id: agentId }, body: { amountEuros: 50, fromWalletId: wallet.id } }),
  )
  const run = await bodyOf(client.runs.create({ body: { agentId, name: hostile, budgetEuros: 90 } }))
  for (const amountEuros of [25, 5])
    await bodyOf(
      client.intents.create({
        body: { agentId, amountEuros, merchant: hostile, purpose: hostile, runId: run.id },
      }),
    )
  const { intent } = await pay({ client, agent, shopId: wallet.id }, 4, { purpose: hostile })
  await bodyOf(
    client.outcomes.create({ body: { intentId: intent.id, success: true, valueEuros: 9, note: hostile } }),
  )
  await Promise.all([
    bodyOf(
      client.delegations.create({
        body: { agentId, maxAmountEuros: 10, expiresInMinutes: 60, label: hostile },
      }),
    ),
    bodyOf(
      client.agentTokens.create({ params: { id: agentId }, body: { label: hostile, maxAmountEuros: 5 } }),
    ),
    bodyOf(client.cardRequests.create({ body: { type: 'new_card', agentId, limits: {}, reason: hostile } })),
    bodyOf(client.keys.create({ body: { name: hostile, environment: 'test' } })),
    bodyOf(
      client.collect.create({
        body: {
          walletId: wallet.id,
          amountEuros: 12,
          description: hostile.slice(0, 130),
          expiresInHours: 24,
        },
      }),
    ),
  ])
  await connectAssistant(owner, agentId, hostile)
  await bodyOf(client.agents.freeze({ params: { id: agentId }, body: { reason: hostile } }))
}

/** Linked pages, one of each kind: `agents`, `agents/x`. */
async function linksOn(page: Page): Promise<(readonly [kind: string, url: string])[]> {
  const links = (await page.evaluate(
    '[...document.querySelectorAll("a[href]:not([download])")].map(({ href }) => href)',
  )) as string[]
  return links.flatMap(link => {
    const [, top, section, id] = new URL(link).pathname.split('/')
    if (top !== 'console' || section === undefined) return []
    return [[id === undefined ? section : `${section}/x`, link] as const]
  })
}

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
