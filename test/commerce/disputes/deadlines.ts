import { describe, expect, test } from '@jest/globals'
import {
  aDispute,
  aPaidCard,
  daysLater,
  dispute,
  getDispute,
  ledgerBalance,
  networkSays,
} from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

async function changesOf(client: TestClient, disputeId: string): Promise<unknown[]> {
  const { data } = await bodyOf(client.events.list({ query: { limit: 100 } }))
  return data
    .filter(({ event, data }) => event.startsWith('dispute.') && data.disputeId === disputeId)
    .map(({ event, data }) => data.change ?? event)
    .reverse()
}

describe('the time for evidence', () => {
  test('a dispute without evidence lapses after seven days, with a reminder a day before', async () => {
    const { client, transactionId } = await aPaidCard(service, 25)
    const { id } = await aDispute(client, transactionId)
    await daysLater(client, 6)
    expect((await getDispute(client, id)).status).toBe('open')
    await daysLater(client, 1)
    expect(await getDispute(client, id)).toMatchObject({ status: 'lapsed', evidenceDueAt: null })
    expect(await changesOf(client, id)).toEqual(['dispute.created', 'reminder', 'dispute.resolved'])
  })

  test('the deadline submits the dispute; an unauthorized payment needs no further evidence', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 25)
    const { id } = await aDispute(client, transactionId)
    const declared = { agentId: agent.id, amountEuros: 1, purpose: 'A book', merchant: 'shop.example.com' }
    const { id: intentId } = await bodyOf(client.intents.create({ body: declared }))
    const piece = { intentId, type: 'confirmation' as const, text: 'It comes on Monday.' }
    const { id: evidenceId } = await bodyOf(client.evidence.create({ body: piece }))
    await bodyOf(client.disputes.addEvidence({ params: { id }, body: { evidenceIds: [evidenceId] } }))
    const unauthorized = await aPaidCard(service, 25)
    const second = await aDispute(unauthorized.client, unauthorized.transactionId, { reason: 'fraud' })
    await daysLater(client, 8)
    await daysLater(unauthorized.client, 8)
    expect(await getDispute(client, id)).toMatchObject({ status: 'submitted', evidenceIds: [evidenceId] })
    expect((await getDispute(unauthorized.client, second.id)).status).toBe('submitted')
  })
})

describe('the time for disputes', () => {
  test('is 120 days, and 13 months for a payment that was not authorized', async () => {
    const { client, transactionId } = await aPaidCard(service, 25)
    await daysLater(client, 121)
    expect(await dispute(client, transactionId)).toMatchObject({ code: 'too_late' })
    await daysLater(client, 270)
    const opened = await aDispute(client, transactionId, { reason: 'unauthorized' })
    expect(
      await client.disputes.update({ params: { id: opened.id }, body: { reason: 'duplicate' } }),
    ).toMatchObject({ code: 'too_late' })
    await bodyOf(client.disputes.withdraw({ params: { id: opened.id } }))
    await daysLater(client, 20)
    expect(await dispute(client, transactionId, { reason: 'unauthorized' })).toMatchObject({
      code: 'too_late',
    })
  })
})

describe('a report of the network', () => {
  test('about a dispute that was withdrawn is recorded once, and the ledger follows the last one', async () => {
    const { client, transactionId } = await aPaidCard(service, 25)
    const { id } = await aDispute(client, transactionId, { reason: 'unauthorized' })
    await bodyOf(client.disputes.withdraw({ params: { id } }))
    await daysLater(client, 1)
    const sent = await networkSays(client, id, 'credited')
    const { messageId, sentAt } = sent
    await networkSays(client, id, 'credited', { messageId, sentAt })
    expect(await getDispute(client, id)).toMatchObject({ status: 'withdrawn', creditedEuros: 25 })
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await networkSays(client, id, 'lost')
    expect(await getDispute(client, id)).toMatchObject({ status: 'withdrawn', creditedEuros: 0 })
  })

  test('a late report does not override a later one', async () => {
    const { client, transactionId } = await aPaidCard(service, 25)
    const { id } = await aDispute(client, transactionId)
    const before = new Date()
    await daysLater(client, 1)
    await networkSays(client, id, 'won')
    await networkSays(client, id, 'lost', { sentAt: before })
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 25 })
  })
})
