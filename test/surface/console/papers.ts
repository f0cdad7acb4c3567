import { describe, expect, test } from '@jest/globals'
import { anAgent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { aVisitor, service } from './visitors.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const anUnassignedCredit = (client: TestClient) =>
  bodyOf(
    client.incoming.simulate({
      body: {
        iban: 'DE89370400440532013000',
        amountEuros: 33,
        senderName: 'Adler <b>GmbH</b>',
        reference: 'Invoice 17',
      },
    }),
  )

describe('an unmatched credit', () => {
  test('is assigned to a wallet on its page, to which home and wallets lead', async () => {
    const { client } = await service.owner()
    const wallet = await aWallet(client)
    const credit = await anUnassignedCredit(client)
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL('console/wallets', page.url()).href)
    await page.locator('.totals').getByRole('link', { name: '€ 33.00' }).click()
    await page.getByRole('link', { name: '€ 33.00' }).click()
    await page.getByRole('link', { name: 'Open page' }).click()
    await page.locator('button[commandfor]', { hasText: 'Assign to a wallet' }).click()
    await page.getByLabel('Wallet', { exact: true }).selectOption(wallet.id)
    await page.getByRole('dialog').getByRole('button', { name: 'Assign to a wallet' }).click()
    await page.locator('h1').getByText('assigned').waitFor()
    const { availableEuros } = await bodyOf(client.wallets.get({ params: { id: wallet.id } }))
    expect([availableEuros, page.url().endsWith(`console/incoming/${credit.id}`)]).toEqual([33, true])
    expect(complaints).toEqual([])
  })

  test('is shown to a viewer, who has nothing to press', async () => {
    const { owner } = await aVisitor()
    const { id } = await anUnassignedCredit(owner.client)
    const viewer = await aVisitor('viewer', owner)
    const { text } = await viewer.read(`console/incoming/${id}`)
    expect(text).toContain('Adler &lt;b&gt;GmbH')
    expect(text).not.toContain('data-operation=')
    expect((await (await aVisitor()).read(`console/incoming/${id}`)).status).toBe(404)
    expect((await viewer.read('console/csv/incoming?status=unmatched')).text).toContain(id)
  })
})

describe('the papers of a payment', () => {
  test('have a page each: a receipt with its picture, evidence with its text', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const receipt = await bodyOf(client.receipts.create({ body: { file: PIXEL } }))
    const { text } = await read(`console/receipts/${receipt.id}`)
    expect(text).toContain(`src="../../receipts/${receipt.id}/thumbnail?size=1200"`)
    expect(text).toContain(receipt.sha256)
    const list = (await read('console/receipts')).text
    expect(list).toContain(`receipts/${receipt.id}`)
    expect(list).toMatch(/Storage: \d+ bytes of 5\.0 GiB used, 5\.0 GiB free\./)
    const agent = await anAgent(client)
    const intent = await bodyOf(
      client.intents.create({
        body: { agentId: agent.id, amountEuros: 5, merchant: 'Bookshop', purpose: 'A book' },
      }),
    )
    const kept = { intentId: intent.id, type: 'confirmation', text: 'Order <4711>' } as const
    const piece = await bodyOf(client.evidence.create({ body: kept }))
    expect((await read(`console/intents/${intent.id}`)).text).toContain(`evidence/${piece.id}`)
    expect((await read(`console/evidence/${piece.id}`)).text).toContain('Order &lt;4711&gt;')
  })
})

describe('a set that the contract names', () => {
  test('is ticked, and without a tick the service decides', async () => {
    const { client } = await service.owner()
    const { page } = await openAsOwner(client)
    await page.goto(new URL('console/keys', page.url()).href)
    const make = async (name: string, scopes: readonly string[], changesByTools = false) => {
      await page.locator('button[commandfor]', { hasText: 'New key' }).click()
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Environment').first().selectOption('sandbox')
      if (scopes.length > 0) await page.locator('summary', { hasText: 'Choose from' }).click()
      for (const scope of scopes) await page.getByLabel(scope, { exact: true }).check()
      if (changesByTools) await page.getByLabel('Let assistants make changes with this key').check()
      await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
      await page
        .getByRole('dialog')
        .getByText(changesByTools ? 'let assistants change things' : name)
        .waitFor()
      await page.getByRole('button', { name: 'Sign with passkey' }).click()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByText(name).first().waitFor()
      const { data } = await bodyOf(client.keys.list({}))
      return data.find(key => key.name === name)
    }
    const narrow = await make('Narrow', ['agents:read', 'wallets:read'])
    expect([narrow?.scopes, narrow?.toolWrites]).toEqual([['agents:read', 'wallets:read'], false])
    expect((await make('Wide', []))?.scopes.length).toBeGreaterThan(50)
    expect((await make('Helper', ['agents:read'], true))?.toolWrites).toBe(true)
  })
})

test('an approver lets the own browser ring, and a viewer is offered nothing', async () => {
  const { owner } = await aVisitor()
  const [approver, viewer] = [await aVisitor('approver', owner), await aVisitor('viewer', owner)]
  expect((await approver.read('console/settings')).text).toContain('data-action="push-on"')
  expect((await viewer.read('console/settings')).text).not.toContain('data-action="push-on"')
})
