import { describe, expect, test } from '@jest/globals'
import { aCardOf, aShopper, issueCredential, lastAsk } from '../../support/cards/reveal.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf } from '../../support/trace.ts'

const service = await startTestService()

describe('a credential', () => {
  test('is issued for the agent’s only active card, and contains no data', async () => {
    const { agentClient, agent, card, intent } = await aShopper(service)
    const answer = await issueCredential(agentClient, intent.id)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      agentId: agent.id,
      intentId: intent.id,
      cardId: card.id,
      status: 'issued',
      redeemedAt: null,
      accessEventId: null,
    })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['credential.issued'] })
  })

  test('must name the card where the agent has two, or none', async () => {
    const { client, agent, card, intent } = await aShopper(service)
    const second = await aCardOf(service, client, agent.id)
    expect(await issueCredential(client, intent.id)).toMatchObject({ status: 400, code: 'card_required' })
    expect((await bodyOf(issueCredential(client, intent.id, { cardId: second.id }))).cardId).toBe(second.id)
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    expect((await bodyOf(issueCredential(client, intent.id))).cardId).toBe(second.id)
    await bodyOf(client.cards.close({ params: { id: second.id }, body: {} }))
    expect(await issueCredential(client, intent.id)).toMatchObject({ status: 400, code: 'card_required' })
  })

  test('is for the card that was issued for its intent, though the agent has others', async () => {
    const { client, agent, intent } = await aShopper(service)
    const own = await aCardOf(service, client, agent.id, { intentId: intent.id, usage: 'single' })
    expect((await bodyOf(issueCredential(client, intent.id))).cardId).toBe(own.id)
  })

  test('is not issued without an approved intent, and the denial is on record', async () => {
    const { client, intent } = await aShopper(service)
    await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
    expect(await issueCredential(client, intent.id)).toMatchObject({
      status: 400,
      code: 'intent_not_approved',
    })
    expect(await lastAsk(client)).toMatchObject({ way: 'credential', decision: 'denied', sourceId: null })
  })

  test.each([29, 86_401, 60.5])('lasts no %s seconds', async ttlSeconds => {
    const { client, intent } = await aShopper(service)
    const { status, error } = await issueCredential(client, intent.id, { ttlSeconds })
    expect([status, error]).toEqual([400, expect.stringMatching(/^ttlSeconds: an integer from 30 to 86400/)])
  })
})
