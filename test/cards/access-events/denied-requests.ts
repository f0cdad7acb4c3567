import { describe, expect, test } from '@jest/globals'
import {
  aCardOf,
  anAgentClient,
  aShopper,
  aSpender,
  jwkOf,
  lastAsk,
  type Shopper,
} from '../../support/cards/reveal.ts'
import { aBeneficiary, aFundedAgent, anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf } from '../../support/trace.ts'

const service = await startTestService()

interface Asked {
  readonly cardId: string
  readonly intentId: string
}

const another = async ({ client, agent }: Shopper, members: object = {}): Promise<string> =>
  (await anIntent(client, agent.id, { merchant: 'other.example.com', ...members })).id

/** Each changes one member of a request that would be granted. */
const situations: [string, number, string, (shopper: Shopper) => Promise<Partial<Asked>>][] = [
  ['an intent that is not there', 404, 'intent_not_found', async () => ({ intentId: 'intent_x' })],
  ['a card that is not there', 404, 'card_not_found', async () => ({ cardId: 'card_x' })],
  [
    'an intent that waits for a person',
    400,
    'intent_not_approved',
    async shopper => {
      const policy = await aPolicy(shopper.client, { autoApproveLimitEuros: 1 })
      const agent = await aFundedAgent(shopper.client, { policyId: policy.id })
      const card = await aCardOf(service, shopper.client, agent.id)
      return { cardId: card.id, intentId: (await anIntent(shopper.client, agent.id)).id }
    },
  ],
  [
    'a cancelled intent',
    400,
    'intent_not_approved',
    async ({ client, intent }) => {
      await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
      return {}
    },
  ],
  [
    'an intent whose payment is under way',
    400,
    'intent_being_paid',
    async ({ intent }) => {
      await service.sql(`update intents set payment_id = 'payment_1' where id = $1`, [intent.id])
      return {}
    },
  ],
  [
    'an intent whose deadline has passed',
    400,
    'intent_expired',
    async ({ intent }) => {
      await service.sql(`update intents set expires_at = now() - interval '1 minute' where id = $1`, [
        intent.id,
      ])
      return {}
    },
  ],
  [
    'an intent that a transfer pays',
    400,
    'intent_not_by_card',
    async shopper => {
      const beneficiary = await aBeneficiary(shopper.client)
      return { intentId: await another(shopper, { merchant: undefined, beneficiaryId: beneficiary.id }) }
    },
  ],
  [
    'an intent of another agent',
    400,
    'intent_other_agent',
    async ({ client }) => ({ intentId: (await anIntent(client, (await aSpender(client)).id)).id }),
  ],
  [
    'an intent that names another card',
    400,
    'intent_other_card',
    async shopper => {
      const card = await aCardOf(service, shopper.client, shopper.agent.id)
      return { intentId: await another(shopper, { cardId: card.id }) }
    },
  ],
  [
    'a card of another intent',
    400,
    'card_other_intent',
    async shopper => {
      const intentId = await another(shopper)
      const card = await aCardOf(service, shopper.client, shopper.agent.id, {
        intentId,
        usage: 'single',
      })
      return { cardId: card.id }
    },
  ],
  [
    'a card that is inactive',
    400,
    'card_not_active',
    async ({ client, agent }) => ({
      cardId: (await aCardOf(service, client, agent.id, { activate: false })).id,
    }),
  ],
  [
    'a card that is frozen',
    400,
    'card_not_active',
    async ({ client, card }) => {
      await bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} }))
      return {}
    },
  ],
  [
    'a card that is closed',
    400,
    'card_not_active',
    async ({ client, card }) => {
      await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
      return {}
    },
  ],
  [
    'the card of a frozen agent',
    400,
    'agent_not_active',
    async ({ client, agent }) => {
      await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
      return {}
    },
  ],
]

describe('the data of a card is denied, on record,', () => {
  test.each(situations)('for %s: %s %s', async (_, status, code, change) => {
    const shopper = await aShopper(service)
    const { client, card, intent, pair } = shopper
    const asked = { cardId: card.id, intentId: intent.id, ...(await change(shopper)) }
    const body = { intentId: asked.intentId, purpose: 'Try', publicKeyJwk: jwkOf(pair) }
    const answer = await client.accessEvents.access({ params: { id: asked.cardId }, body })
    expect([answer.status, answer.code]).toEqual([status, code])
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(await traceOf(service, answer)).toMatchObject({ events: ['card.access_denied'] })
    expect(await lastAsk(client)).toMatchObject({
      decision: 'denied',
      outcome: null,
      reasons: expect.arrayContaining([{ code, message: expect.any(String) }]),
      requestId: answer.headers.get('x-request-id'),
    })
  })

  test('with every reason at once', async () => {
    const { client, agent, card, intent, pair } = await aShopper(service)
    await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    const body = { intentId: intent.id, purpose: 'Try', publicKeyJwk: jwkOf(pair) }
    const { error } = await client.accessEvents.access({ params: { id: card.id }, body })
    expect((await lastAsk(client))?.reasons.map(({ code }) => code)).toEqual([
      'agent_not_active',
      'intent_not_approved',
    ])
    expect(error).toMatch(/frozen.*approved/)
  })

  test('to another agent of the owner, which only the owner learns of', async () => {
    const { client, card, filler } = await aShopper(service)
    const thief = await aSpender(client)
    const [thiefClient, intent] = [
      await anAgentClient(service, client, thief.id),
      await anIntent(client, thief.id),
    ]
    const body = { intentId: intent.id, purpose: 'Try', fillerKeyId: filler.id }
    const ask = (id: string) => thiefClient.accessEvents.access({ params: { id }, body })
    const [known, unknown] = [await ask(card.id), await ask('card_x')]
    expect([known.status, known.error]).toEqual([404, unknown.error])
    expect((await bodyOf(thiefClient.accessEvents.list({ query: { cardId: card.id } }))).data).toEqual([])
    const { data } = await bodyOf(client.accessEvents.list({ query: { cardId: card.id } }))
    expect(data).toMatchObject([{ agentId: null, decision: 'denied', actor: { type: 'agent' } }])
  })

  test('to another owner, without a record for the owner of the card', async () => {
    const { client, card } = await aShopper(service)
    const stranger = await aShopper(service)
    const body = { intentId: stranger.intent.id, purpose: 'Try', fillerKeyId: stranger.filler.id }
    const answer = await stranger.client.accessEvents.access({ params: { id: card.id }, body })
    expect([answer.status, answer.code]).toEqual([404, 'card_not_found'])
    expect((await bodyOf(client.accessEvents.list({ query: {} }))).data).toEqual([])
  })

  test('and a body with a card number is refused whole, unrecorded', async () => {
    const { client, card, intent, pair } = await aShopper(service)
    const body = { intentId: intent.id, purpose: 'Like 4242424242424242', publicKeyJwk: jwkOf(pair) }
    const { status, error } = await client.accessEvents.access({ params: { id: card.id }, body })
    expect([status, error]).toEqual([400, expect.stringMatching('number of a card')])
    expect(error).not.toContain('4242')
    expect(await lastAsk(client)).toBeUndefined()
  })
})
