import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { balanceOf } from '../../support/cards/simulated.ts'
import { aDispute, dispute, getDispute, networkSays } from '../../support/commerce/disputes.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const network = networkBefore(service)

/** A payment of € 100 that the agent's checkout has confirmed and the network has not reported. */
async function aConfirmedPayment() {
  const { client } = await service.owner()
  const { agent, card } = await aPayingCard(client, 300)
  const { id: intentId } = await anIntent(client, agent.id, { amountEuros: 100, merchant: 'Bookshop' })
  const idempotencyKey = newId('key')
  const { transactionId } = await bodyOf(client.checkout.confirm({ body: { intentId }, idempotencyKey }))
  return { client, agent, card, transactionId: String(transactionId) }
}

describe('a payment that only the agent’s checkout has confirmed', () => {
  test('is disputed once the merchant has collected it, and no higher than that', async () => {
    const { client, agent, card, transactionId } = await aConfirmedPayment()
    const answer = await dispute(client, transactionId, { reason: 'unauthorized' })
    expect(answer).toMatchObject({ status: 400, code: 'not_collected' })
    await network.clear(card.id, null, 40)
    const { id, ...opened } = await aDispute(client, transactionId, { reason: 'unauthorized' })
    expect(opened).toMatchObject({ amountEuros: 40, creditedEuros: 40, cardId: card.id })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    await expectVerifiedLedger(client)
    // The network names the card, which the record knows only from the clearing.
    await networkSays(client, id, 'won')
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 40 })
  })
})
