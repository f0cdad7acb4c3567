import type { Page } from 'playwright-core'
import { aPayingCard } from '../../support/cards/network.ts'
import { aDispute, paid } from '../../support/commerce/disputes.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import type { Presses } from './presses.ts'

export interface Task {
  readonly name: string
  readonly most: number
  readonly isOnPhone?: true
  /** Whether the passkey confirms it, in addition to the presses. */
  readonly isSigned?: true
  /** Makes what the task is about. Returns the address where it begins. */
  prepare(client: TestClient): Promise<string>
  /** Done when the page says so. */
  run(page: Page, presses: Presses): Promise<void>
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()
/** Opens the dialog of a form. */
const opener = (page: Page, name: string) =>
  page.locator('main button[commandfor]', { hasText: name }).first()
const news = (page: Page, text: string) => page.locator('#news').filter({ hasText: text }).waitFor()

const anAsk = async (client: TestClient, members: Parameters<typeof anIntent>[2] = {}) => {
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10, maxTransactionEuros: 100 })
  return anIntent(client, agent.id, members)
}

const RECEIPT = new URL('order.png', import.meta.url).pathname

export const tasks: readonly Task[] = [
  {
    name: 'Approve on a phone, from the notification',
    most: 2,
    isOnPhone: true,
    isSigned: true,
    prepare: async client => `approve/${(await anAsk(client)).id}`,
    async run(page, { press }) {
      await press(button(page, 'Approve with passkey'))
      await news(page, 'Approved.')
    },
  },
  {
    name: 'Freeze an agent, on its page',
    most: 2,
    prepare: async client => `console/agents/${(await anAgentUnder(client, {})).id}`,
    async run(page, { press }) {
      await press(opener(page, 'Freeze'))
      await press(page.locator('form').getByRole('button', { name: 'Freeze' }))
      await page.locator('h1 .status', { hasText: 'frozen' }).waitFor()
    },
  },
  {
    name: 'Raise a limit, on the agent’s page',
    most: 3,
    isSigned: true,
    prepare: async client => `console/agents/${(await anAgentUnder(client, { maxTransactionEuros: 50 })).id}`,
    async run(page, { press, type }) {
      await press(opener(page, 'Change limits'))
      await type(page.locator('[name="maxTransactionEuros"]'), '80')
      await press(page.locator('form').getByRole('button', { name: 'Change limits' }))
      await press(button(page, 'Sign with passkey'))
      await news(page, 'Saved.')
    },
  },
  {
    name: 'See why an intent was denied, from the list',
    most: 1,
    async prepare(client) {
      await anAsk(client, { amountEuros: 400 })
      return 'console/intents?status=denied'
    },
    async run(page, { press }) {
      await press(page.locator('tbody a').first())
      await page.locator('.denial strong', { hasText: 'Limit per payment' }).waitFor()
    },
  },
  {
    name: 'Find a payment by its amount',
    most: 1,
    async prepare(client) {
      const { card } = await aPayingCard(client, 300)
      for (const euros of [12.5, 47.11, 30]) await paid(client, card.id, euros)
      return 'console'
    },
    async run(page, { press, type }) {
      await press(page.locator('[data-palette]').first())
      await page.locator('dialog.palette input:focus').waitFor()
      await type(page.locator('dialog.palette input'), '47.11')
      await page.locator('dialog a', { hasText: '47.11' }).first().waitFor()
      await page.keyboard.press('Enter')
      await page.locator('main h1', { hasText: '47.11' }).waitFor()
    },
  },
  {
    name: 'Answer a dispute with evidence, on its page',
    most: 4,
    async prepare(client) {
      const { card, agent } = await aPayingCard(client, 300)
      const intent = await anIntent(client, agent.id, { amountEuros: 25, cardId: card.id })
      if (intent.status === 'created')
        await bodyOf(client.intents.approve({ params: { id: intent.id }, body: {} }))
      const { transactionId } = await paid(client, card.id, 25)
      return `console/disputes/${(await aDispute(client, transactionId)).id}`
    },
    async run(page, { press, chooseFile }) {
      await chooseFile(page.locator('input[type="file"]').first(), RECEIPT)
      await press(button(page, 'Add evidence'))
      await page.locator('main table').getByText('other').first().waitFor()
      await press(button(page, 'Submit to the card network'))
      await press(page.getByRole('dialog').getByRole('button', { name: 'Submit to the card network' }))
      await page.locator('h1 .status', { hasText: 'submitted' }).waitFor()
    },
  },
  {
    name: 'Export a month, from the wallets',
    most: 2,
    async prepare(client) {
      const { walletId } = await anAgentUnder(client, {})
      const { now } = await bodyOf(client.sandbox.advance({ body: { days: 31 } }))
      const today = new Date(now)
      const period = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1))
        .toISOString()
        .slice(0, 7)
      await bodyOf(client.statements.create({ body: { walletId, period } }))
      return 'console/wallets'
    },
    async run(page, { press }) {
      await press(page.getByRole('link', { name: 'Statements', exact: true }).first())
      const downloading = page.waitForEvent('download')
      await press(page.locator('.export-month').getByRole('button', { name: 'Export' }))
      await (await downloading).path()
    },
  },
  {
    name: 'Invite a colleague, on People',
    most: 3,
    isSigned: true,
    prepare: async () => 'console/people',
    async run(page, { press, type }) {
      await press(opener(page, 'Invite person'))
      await type(page.locator('form').getByLabel('Name'), 'Grace Hopper')
      await page.keyboard.press('Enter')
      await press(button(page, 'Sign with passkey'))
      await page.locator('dialog dd code').waitFor()
    },
  },
]
