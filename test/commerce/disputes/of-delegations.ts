import { describe, expect, test } from '@jest/globals'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { dispute } from '../../support/commerce/disputes.ts'
import { delegationsIn } from '../../support/control/delegations.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const network = networkBefore(service)
const { aDelegate } = delegationsIn(service)

describe('the token of a delegation', () => {
  test('disputes payments under the delegation, and cannot see or change other disputes of the agent', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aPayingCard(client, 300)
    const mine = await aDelegate(client, agent.id, { maxAmountEuros: 100 })
    const others = await aDelegate(client, agent.id, { maxAmountEuros: 100 })
    const paidUnder = async (by: typeof mine | undefined, merchant: string) => {
      const intent = await anIntent(by?.tokenClient ?? client, agent.id, { amountEuros: 20, merchant })
      const { authorizationId } = await network.authorize(card.id, 20, { descriptor: merchant })
      await network.clear(card.id, authorizationId, 20)
      const { data } = await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))
      return String(data[0]?.id)
    }
    const own = await paidUnder(mine, 'Bookshop')
    const strange = [await paidUnder(others, 'Bakery'), await paidUnder(undefined, 'Florist')]
    const { tokenClient } = mine
    for (const id of strange) {
      const answer = await dispute(tokenClient, id, { reason: 'unauthorized', freezeCard: true })
      expect(answer).toMatchObject({ status: 404, code: 'transaction_not_found' })
    }
    expect(await bodyOf(client.cards.get({ params: { id: card.id } }))).toMatchObject({ status: 'active' })
    const opened = await bodyOf(dispute(tokenClient, own, { reason: 'unauthorized' }))
    expect(opened).toMatchObject({ delegationId: mine.id, creditedEuros: 20 })
    const byOwner = await bodyOf(dispute(client, String(strange[1]), { reason: 'fraud' }))
    expect(byOwner.delegationId).toBeNull()
    const params = { id: byOwner.id }
    for (const answer of await Promise.all([
      tokenClient.disputes.get({ params }),
      tokenClient.disputes.withdraw({ params }),
      tokenClient.disputes.submit({ params }),
      tokenClient.disputes.update({ params, body: { description: 'Mine' } }),
      tokenClient.disputes.timeline({ params }),
      others.tokenClient.disputes.withdraw({ params: { id: opened.id } }),
    ]))
      expect(answer).toMatchObject({ status: 404, code: 'dispute_not_found' })
    const { data } = await bodyOf(tokenClient.disputes.list({}))
    expect(data.map(({ id }) => id)).toEqual([opened.id])
  })
})
