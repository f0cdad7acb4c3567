import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import {
  aBeneficiary,
  anIntent,
  aPolicy,
  aToken,
  aWallet,
  aWebhook,
  bodyOf,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { runViewer } from '../../support/temporal/runs.ts'
import { until } from '../../support/until.ts'
import { open, openAsOwner } from '../console-pages/devices.ts'

const WEB_UI = 'https://temporal.example.com'
const receiver = await startReceiver()
const service = await startTestService({
  temporal: true,
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', TEMPORAL_UI_URL: WEB_UI },
})
const runs = await runViewer()
const origin = service.url.replace('127.0.0.1', 'localhost')
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

async function anAccount() {
  const { client, ownerId } = await service.owner()
  await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'enterprise' } }))
  const main = await aWallet(client, 500)
  const { id: policyId } = await aPolicy(client, { name: 'Research', autoApproveLimitEuros: 50 })
  const agent = await bodyOf(client.agents.create({ body: { name: 'Scout', policyId } }))
  const payee = await aBeneficiary(client, { name: 'Bäckerei Müller' })
  await anIntent(client, agent.id, { merchant: 'Bookshop', amountEuros: 25 })
  return { client, main, policyId, agent, payee, webhook: await aDeadLetter(client) }
}

async function aDeadLetter(client: Awaited<ReturnType<typeof service.owner>>['client']) {
  receiver.treat('/books', respondWith(500))
  const webhook = await aWebhook(client, { url: `${receiver.url}/books`, events: ['agent.frozen'] })
  const broken = await bodyOf(client.agents.create({ body: { name: 'Broken' } }))
  await bodyOf(client.agents.freeze({ params: { id: broken.id }, body: {} }))
  await until('it is dead', async () => {
    await service.sql('update webhooks set paused_until = null where id = $1', [webhook.id])
    await service.sql(`update deliveries set due_at = now() where webhook_id = $1 and status = 'pending'`, [
      webhook.id,
    ])
    await service.sql('notify deliveries')
    const { data } = await bodyOf(client.webhooks.deadLetters({ query: { webhookId: webhook.id } }))
    return data.length === 1
  })
  receiver.treat('/books', respondWith(204))
  return webhook
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
const openForm = (page: Page, name: string) =>
  page.locator('button[commandfor]', { hasText: name }).first().click()
const sign = (page: Page) => press(page, 'Sign with passkey')
const news = (page: Page, text: string) => page.locator('#news').filter({ hasText: text }).waitFor()

/** Follows a link, and waits until the scripts of the next page listen. */
async function follow(page: Page, link: Locator): Promise<void> {
  const { href } = new URL(String(await link.getAttribute('href')), page.url())
  await link.click()
  await page.waitForURL(href)
}

const linkIn = (page: Page, navigation: string, name: string) =>
  page.getByRole('navigation', { name: navigation, exact: true }).getByRole('link', { name, exact: true })

async function goTo(page: Page, place: string, tab?: string): Promise<void> {
  // A record that was opened from a list covers the page.
  if (await page.locator('dialog.panel[open]').count()) await page.keyboard.press('Escape')
  await follow(page, linkIn(page, 'Places', place))
  if (tab !== undefined) await follow(page, linkIn(page, place, tab))
}

async function goToPeople(page: Page): Promise<void> {
  await press(page, 'Account')
  await follow(page, page.locator('#account').getByRole('link', { name: 'People & roles' }))
}

async function inviteGrace(page: Page) {
  await goToPeople(page)
  await openForm(page, 'Invite person')
  await page.getByLabel('Name').fill('Grace Hopper')
  await page.getByLabel('Role').first().selectOption('approver')
  await page.locator('form').getByRole('button', { name: 'Invite person' }).click()
  await sign(page)
  const link = await page.locator('dialog dd code').innerText()
  await press(page, 'I have stored it')
  await page.getByText('Grace Hopper').waitFor()
  const visited = await open(link, phone)
  await visited.page.locator('[data-action="redeem"]:visible').tap()
  await visited.page.locator('form[data-action="enrol"] button:visible').tap()
  await visited.page.waitForURL('**/console')
  return visited
}

async function fund(page: Page, agent: string, wallet: { id: string }): Promise<void> {
  await goTo(page, 'Agents')
  await page.locator('main').getByRole('link', { name: agent }).click()
  await page.locator('dialog.panel').getByRole('heading', { name: agent }).waitFor()
  await openForm(page, 'Fund')
  await page.getByLabel('Amount').first().fill('100')
  await page.getByLabel('From wallet').selectOption(wallet.id)
  await page.locator('form').getByRole('button', { name: 'Fund' }).click()
  await page.locator('.box').filter({ hasText: 'Money' }).getByText('€ 100.00').first().waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog.panel').waitFor({ state: 'detached' })
}

/** A template changes nothing until it is applied, so the last thirty days are replayed under it first. */
async function tighten(page: Page): Promise<void> {
  await goTo(page, 'Agents', 'Limit templates')
  await follow(page, page.locator('tr').getByRole('link', { name: 'Research' }))
  await page.locator('[name="autoApproveLimitEuros"]').fill('10')
  await press(page, 'Save')
  await news(page, 'Saved.')
  await press(page, 'Replay the last 30 days')
  const changed = page.locator('#backtest tr', { hasText: 'Newly require approval' })
  await changed.getByText('€ 25.00').waitFor()
  await press(page, 'Apply to agents')
  await page.locator('dialog').getByRole('button', { name: 'Apply to agents' }).click()
  await news(page, 'Applied.')
}

async function download(page: Page, link: string): Promise<Buffer> {
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: link, exact: true }).first().click()
  return readFileSync(await (await downloading).path())
}

test('a whole day of an owner, with an approver on a phone', async () => {
  const { client, main, agent, payee } = await anAccount()
  const { page, complaints } = await openAsOwner(client, { viewport: { width: 1440, height: 900 } })
  await page.goto(`${origin}/console`)

  const grace = await inviteGrace(page)
  await fund(page, 'Scout', main)
  await tighten(page)

  // The agent requests what it could have bought yesterday, and a person decides.
  const token = service.client(
    String((await aToken(client, agent.id, { scopes: ['transfers:create'] })).token),
  )
  const intent = await anIntent(client, agent.id, { beneficiaryId: payee.id, amountEuros: 25 })
  expect(intent.status).toBe('created')
  await page.goto(`${origin}/console/intents/${intent.id}`)
  await page.locator('h1').getByText('Needs approval').waitFor()

  await grace.page.goto(`${origin}/console/inbox`)
  await grace.page.getByText('Bäckerei Müller').first().waitFor()
  await grace.page.getByRole('button', { name: 'Approve with passkey' }).tap()
  await grace.page.getByRole('button', { name: 'Sign with passkey' }).tap()
  await news(grace.page, 'Approved.')

  // The owner's page updates by itself: approver, payment, run and ledger.
  await page.locator('h1').getByText('approved').waitFor()
  await page.getByText('Signed with a passkey').waitFor()
  const transfer = await bodyOf(
    token.transfers.create({
      body: {
        fromWalletId: agent.walletId,
        beneficiaryId: payee.id,
        amountEuros: 25,
        intentId: intent.id,
        scheme: 'sct_inst',
      },
    }),
  )
  await follow(page, page.locator(`main .timeline a[href*="${transfer.id}"]`).first())
  await page.locator('h1').getByText('completed').waitFor()
  const run = String(
    await page.locator('#record-menu a', { hasText: 'Run in Temporal' }).getAttribute('href'),
  )
  const workflowId = decodeURIComponent(String(run.split('/workflows/')[1]))
  expect(run).toContain(`${WEB_UI}/namespaces/default/workflows/`)
  expect(await runs.of({ workflowId }).untilEnded()).toBe('completed')
  await follow(page, page.locator('tr', { hasText: 'transfer' }).locator('a[href*="postings/"]').first())
  await page.locator('main').getByText('€ 25.00').first().waitFor()

  await goTo(page, 'Developers', 'Deliveries')
  await follow(page, page.getByRole('link', { name: 'Dead letters' }))
  await page.locator('tr', { hasText: 'agent.frozen' }).getByRole('button', { name: 'Replay' }).click()
  await page.getByText('No matches.').waitFor()
  await until('it has arrived', () => receiver.at('/books').length === 6)

  await page.goto(`${origin}/console/wallets/${agent.walletId}`)
  await openForm(page, 'Create statement')
  await page.locator('form').getByRole('button', { name: 'Create statement' }).click()
  await page.waitForURL('**/console/statements/*')
  expect((await download(page, 'PDF')).subarray(0, 5).toString()).toBe('%PDF-')
  expect((await download(page, 'CSV')).toString()).toContain('25.00')
  expect((await download(page, 'camt.053')).toString()).toContain('camt.053')

  // The invitation is sent without a passkey first, which the service refuses.
  expect(complaints.filter(text => !text.includes('status of 400'))).toEqual([])
  expect(grace.complaints).toEqual([])
})
