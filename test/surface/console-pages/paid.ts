import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, aWallet, bodyOf } from '../../support/factories.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { german, readPage, service } from './pages-service.ts'

async function pageOfPaid(amountEuros: number) {
  const owner = await service.owner()
  const { client } = owner
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 2_000 })
  const payee = await aWallet(client, 0, { name: 'Bookshop' })
  const intent = await anIntent(client, agent.id, { amountEuros: 7, walletId: payee.id })
  const body = { fromWalletId: agent.walletId, toWalletId: payee.id, amountEuros, intentId: intent.id }
  await bodyOf(client.transfers.create({ body }))
  const { headers } = await signedInTo(service, owner)
  const read = async (language = {}) =>
    (await readPage(`/approve/${intent.id}`, { ...headers, ...language })).text()
  return { page: await read(), inGerman: await read(german) }
}

test('the page of an intent that was paid with less than was approved shows both amounts', async () => {
  const { page, inGerman } = await pageOfPaid(5)
  expect(page).toMatch(/€\s?5\.00 was paid; €\s?7\.00 was approved\./)
  expect(inGerman).toMatch(/5,00\s€ wurden bezahlt; freigegeben waren 7,00\s€\./)
})

test('the page of an intent that was paid as approved shows one amount', async () => {
  const { page } = await pageOfPaid(7)
  expect(page).toContain('The payment is complete.')
  expect(page).not.toContain('was paid;')
})
