import { describe, expect, test } from '@jest/globals'
import {
  aDispute,
  aPaidCard,
  dispute,
  disputed,
  getDispute,
  networkSays,
} from '../../support/commerce/disputes.ts'
import { aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

describe('a payment', () => {
  test('concurrent requests open one dispute', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => dispute(client, transactionId, { reason: 'fraud' })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'dispute_open')).toHaveLength(19)
    const { data } = await bodyOf(client.disputes.list({ query: { transactionId } }))
    expect(data).toHaveLength(1)
  })

  test('that the network has decided on is not disputed again', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    const { id } = await aDispute(client, transactionId)
    await networkSays(client, id, 'lost')
    expect(await dispute(client, transactionId)).toMatchObject({ code: 'dispute_decided' })
  })

  test('of another owner is not known', async () => {
    const { transactionId } = await aPaidCard(service, 30)
    const { client } = await service.owner()
    expect(await dispute(client, transactionId)).toMatchObject({ code: 'transaction_not_found' })
  })
})

describe('an agent', () => {
  test('disputes what it has paid itself, and freezes its card with the same call', async () => {
    const { client, agent, card, transactionId } = await aPaidCard(service, 30)
    const { token } = await aToken(client, agent.id)
    const body = disputed(transactionId, { reason: 'fraud', freezeCard: true })
    const opened = await bodyOf(service.client(String(token)).disputes.create({ body }))
    expect(opened).toMatchObject({ agentId: agent.id, cardFrozen: true, creditedEuros: 30 })
    expect(await bodyOf(client.cards.get({ params: { id: card.id } }))).toMatchObject({ status: 'frozen' })
    const { data } = await bodyOf(service.client(String(token)).disputes.list({}))
    expect(data.map(({ id }) => id)).toEqual([opened.id])
  })
})

describe('a dispute', () => {
  test('is changed while it is open, within what is left of the payment, and not afterwards', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    const { id } = await aDispute(client, transactionId, { amountEuros: 10, reason: 'unauthorized' })
    const params = { id }
    expect(await client.disputes.update({ params, body: { amountEuros: 31 } })).toMatchObject({
      code: 'amount_too_high',
    })
    expect(await bodyOf(client.disputes.update({ params, body: { amountEuros: 30 } }))).toMatchObject({
      amountEuros: 30,
      creditedEuros: 30,
    })
    const changed = await bodyOf(client.disputes.update({ params, body: { reason: 'not_received' } }))
    expect(changed).toMatchObject({ reason: 'not_received', creditedEuros: 0 })
    await bodyOf(client.disputes.submit({ params }))
    for (const answer of [
      await client.disputes.update({ params, body: { amountEuros: 5 } }),
      await client.disputes.submit({ params }),
    ])
      expect(answer).toMatchObject({ code: 'dispute_not_open' })
    expect((await getDispute(client, id)).amountEuros).toBe(30)
  })

  test('that was begun in time is still changed after that, save to a reason that had less time', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    await bodyOf(client.sandbox.advance({ body: { days: 119 } }))
    const { id } = await aDispute(client, transactionId)
    await bodyOf(client.sandbox.advance({ body: { days: 2 } }))
    const description = 'The parcel has been lost.'
    const changed = client.disputes.update({ params: { id }, body: { description } })
    expect(await bodyOf(changed)).toMatchObject({ description })
    const late = await aPaidCard(service, 30)
    await bodyOf(late.client.sandbox.advance({ body: { days: 130 } }))
    const { id: other } = await aDispute(late.client, late.transactionId, { reason: 'fraud' })
    const body = { reason: 'not_received' as const }
    expect(await late.client.disputes.update({ params: { id: other }, body })).toMatchObject({
      code: 'too_late',
    })
  })

  test('a dispute is either submitted or withdrawn', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    const { id } = await aDispute(client, transactionId, { reason: 'fraud' })
    const params = { id }
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => client.disputes.submit({ params })),
      ...Array.from({ length: 5 }, () => client.disputes.withdraw({ params })),
    ])
    expect(answers.slice(0, 5).filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(answers.slice(5).filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await getDispute(client, id)).toMatchObject({ status: 'withdrawn', creditedEuros: 0 })
  })
})
