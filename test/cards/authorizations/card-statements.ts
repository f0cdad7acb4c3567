import { expect, test } from '@jest/globals'
import { aCardWith } from '../../support/cards/card-requests.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { rowsOf } from '../../support/money/statements.ts'

const service = await startTestService()
const { client, key } = await service.owner()
const network = networkBefore(service)

async function movementsOf(walletId: string) {
  const { id } = await bodyOf(client.statements.create({ body: { walletId } }))
  const file = await fetch(`${service.url}/v1/statements/${id}/csv`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return rowsOf(Buffer.from(await file.arrayBuffer()))
    .slice(1)
    .map(([, , kind, name, , reference, , amount]) => [kind, name, reference, amount])
}

test('a statement names the merchants of card payments and refunds, with or without an intent', async () => {
  const { agent, card } = await aPayingCard(client, 100)
  const { authorizationId } = await network.authorize(card.id, 30)
  await network.clear(card.id, authorizationId, 30)
  await network.refund(card.id, authorizationId, 10)
  await anIntent(client, agent.id, { amountEuros: 20 })
  const covered = await network.authorize(card.id, 20)
  await network.clear(card.id, covered.authorizationId, 20)
  const descriptor = 'SQ *BOOKSHOP 1234 BERLIN'
  expect((await movementsOf(agent.walletId)).slice(1)).toEqual([
    ['Payment by card', 'Bookshop', descriptor, '-30.00'],
    ['Payment by card, refunded', 'Bookshop', descriptor, '10.00'],
    ['Payment by card', 'Bookshop', descriptor, '-20.00'],
  ])
})

test('the statement of a purse shows funding, payments and the returned balance', async () => {
  const { agent } = await aPayingCard(client, 100)
  const card = await aCardWith(client, {}, agent)
  const params = { id: card.id }
  const { walletId } = await bodyOf(client.cards.fund({ params, body: { amountEuros: 40 } }))
  const { authorizationId } = await network.authorize(card.id, 25)
  await network.clear(card.id, authorizationId, 25)
  await bodyOf(client.cards.close({ params, body: {} }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  expect((await movementsOf(String(walletId))).map(([kind, , , amount]) => [kind, amount])).toEqual([
    ['Funding of a card', '40.00'],
    ['Payment by card', '-25.00'],
    ['Left over from a card', '-15.00'],
  ])
})
