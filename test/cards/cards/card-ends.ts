import { describe, expect, test } from '@jest/globals'
import { aCard, getCard } from '../../support/cards/cards.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import {
  aFundedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import { answers, callLines, calls, eventsOf, lastState, numbers, pass, service } from './cards-service.ts'

const areClosed = async (cardId: string): Promise<boolean> =>
  (await numbers(cardId)).every(
    ({ processor_card_id, processor_state }) =>
      processor_state === 'closed' && lastState(processor_card_id) === 'closed',
  )

const anIntentAnd = async (client: TestClient) => {
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
  return { agent, intent: await anIntent(client, agent.id) }
}

const network = networkBefore(service)

describe('the end of a card', () => {
  test('is the end that is printed on it', async () => {
    const { client } = await service.owner()
    const card = await aCard(client)
    const end = Date.UTC(Number(card.expYear), Number(card.expMonth), 1)
    const days = Math.floor((end - Date.parse(card.createdAt)) / 86_400_000)
    for (let left = days - 1; left > 0; left -= 366) await pass(client, { days: Math.min(left, 366) })
    expect((await getCard(client, card.id)).status).toBe('active')
    await pass(client, { days: 3 })
    expect(await getCard(client, card.id)).toMatchObject({ status: 'closed', closedReason: 'expired' })
    expect(await areClosed(card.id)).toBe(true)
  })

  test('returns the purse on the same day, however far the test clock is moved at once', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client, {}, 100)
    const { id } = await aCard(client, { agentId: agent.id })
    await pass(client, { minutes: 1 })
    await bodyOf(client.cards.fund({ params: { id }, body: { amountEuros: 40 } }))
    const [{ due_at: dueAt } = { due_at: new Date(0) }] = await service.sql<{ due_at: Date }>(
      `with ending as (update card_numbers set ends_at = now() + interval '5 days' where card_id = $1 returning ends_at)
       update cards set due_at = ends_at from ending where id = $1 returning due_at`,
      [id],
    )
    await pass(client, { days: 30 })
    expect(await getCard(client, id)).toMatchObject({ status: 'closed', closedReason: 'expired' })
    const [returned] = await service.sql<{ at: Date }>(
      `select created_at as at from events where event = 'wallet.credited' and data ->> 'walletId' = $1
       order by id desc limit 1`,
      [agent.walletId],
    )
    const late = Number(returned?.at) - dueAt.getTime()
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(60_000)
  })

  test('comes when the one payment has ended for which a single-use card was made, not after one that was reversed', async () => {
    const { client } = await service.owner()
    const { card } = await aPayingCard(client, 100, { card: { usage: 'single' } })
    await pass(client, { minutes: 1 })
    const { authorizationId } = await network.authorize(card.id, 5)
    await network.reverse(card.id, authorizationId)
    await pass(client, { minutes: 1 })
    expect((await getCard(client, card.id)).status).toBe('active')
    const next = await network.authorize(card.id, 6)
    await network.clear(card.id, next.authorizationId, 6)
    await pass(client, { seconds: 1 })
    expect(await getCard(client, card.id)).toMatchObject({ status: 'closed', closedReason: 'spent' })
    await pass(client, { minutes: 1 })
    expect(await areClosed(card.id)).toBe(true)
  })

  test('comes when what a merchant has not cleared of the one payment of a single-use card expires', async () => {
    const { client } = await service.owner()
    const { card } = await aPayingCard(client, 100, { card: { usage: 'single' } })
    await pass(client, { minutes: 1 })
    const { authorizationId } = await network.authorize(card.id, 5)
    await network.clear(card.id, authorizationId, 3, { final: false })
    await pass(client, { minutes: 1 })
    expect((await getCard(client, card.id)).status).toBe('active')
    await pass(client, { days: 8 })
    expect(await getCard(client, card.id)).toMatchObject({ status: 'closed', closedReason: 'spent' })
  })

  test('the end of a card reaches a processor that was unavailable at the time', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await pass(client, { minutes: 1 })
    const { setState } = answers
    answers.setState = async () => ({ failure: 'unusable' })
    await bodyOf(client.cards.close({ params: { id }, body: {} }))
    await pass(client, { minutes: 50 })
    expect(await areClosed(id)).toBe(false)
    answers.setState = setState
    await pass(client, { minutes: 40 })
    expect(await areClosed(id)).toBe(true)
    const asked = calls.length
    await pass(client, { days: 3 })
    expect(calls).toHaveLength(asked)
    expect(await service.sql('select due_at from cards where id = $1', [id])).toEqual([{ due_at: null }])
  })
})

describe('a policy that ends', () => {
  test.each([
    ['freeze', { status: 'frozen', frozenReason: 'policy_expired' }, 'card.frozen'],
    ['close', { status: 'closed', closedReason: 'policy_expired' }, 'card.closed'],
    ['notify', { status: 'active' }, 'card.activated'],
  ] as const)(
    'with the action %s does that to the cards of its agent',
    async (expirationAction, card, event) => {
      const { client } = await service.owner()
      const agent = await anAgentUnder(client, { expiresAfterMinutes: 30, expirationAction })
      const [first, second] = [
        await aCard(client, { agentId: agent.id }),
        await aCard(client, { agentId: agent.id }),
      ]
      const other = await aCard(client)
      await pass(client, { minutes: 30 })
      for (const { id } of [first, second]) {
        expect(await getCard(client, id)).toMatchObject(card)
        expect((await eventsOf(id)).at(-1)).toBe(event)
      }
      expect((await getCard(client, other.id)).status).toBe('active')
    },
  )

  test('keeps a card from becoming active that the processor has not issued yet', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 1, expirationAction: 'freeze' })
    const { issue } = answers
    answers.issue = async () => ({ failure: 'late' })
    const { id } = await aCard(client, { agentId: agent.id })
    await pass(client, { seconds: 70 })
    answers.issue = issue
    await pass(client, { minutes: 5 })
    expect((await getCard(client, id)).status).toBe('inactive')
  })
})

describe('an agent that is deleted', () => {
  test('has its cards closed before its intents, and their purses emptied into its owner’s wallet', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client, {}, 100)
    const [card, other] = [
      await aCard(client, { agentId: agent.id }),
      await aCard(client, { agentId: agent.id, usage: 'single' }),
    ]
    await bodyOf(client.cards.fund({ params: { id: card.id }, body: { amountEuros: 40 } }))
    const intent = await anIntent(client, agent.id)
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await pass(client, { minutes: 2 })
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('deleted')
    for (const { id } of [card, other])
      expect(await getCard(client, id)).toMatchObject({ status: 'closed', closedReason: 'agent_deleted' })
    expect((await getCard(client, card.id)).balance).toEqual({ availableEuros: 0, heldEuros: 0 })
    const rows = await service.sql<{ event: string }>(
      `select event from events where agent_id = $1 and event in ('card.closed', 'intent.cancelled') order by id`,
      [agent.id],
    )
    expect(rows.map(({ event }) => event)).toEqual(['card.closed', 'card.closed', 'intent.cancelled'])
    expect((await bodyOf(client.intents.get({ params: { id: intent.id } }))).status).toBe('cancelled')
    const { data } = await bodyOf(client.wallets.list({ query: { kind: 'owner' } }))
    expect(data.map(({ availableEuros }) => availableEuros)).toEqual([100])
    expect(await areClosed(card.id)).toBe(true)
    expect((await bodyOf(client.ledger.verify())).ok).toBe(true)
  })
})

describe('a card for an intent', () => {
  test('is named by the intent, and there is one at a time', async () => {
    const { client } = await service.owner()
    const { agent, intent } = await anIntentAnd(client)
    const card = await aCard(client, { agentId: agent.id, intentId: intent.id, usage: 'single' })
    expect(card).toMatchObject({ intentId: intent.id, usage: 'single' })
    const named = () => bodyOf(client.intents.get({ params: { id: intent.id } }))
    expect((await named()).cardId).toBe(card.id)
    const body = { agentId: agent.id, usage: 'single', intentId: intent.id } as const
    expect((await client.cards.create({ body })).code).toBe('intent_has_card')
    expect((await bodyOf(client.cards.list({ query: { intentId: intent.id } }))).data).toHaveLength(1)
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    const next = await bodyOf(client.cards.create({ body }))
    expect((await named()).cardId).toBe(next.id)
  })

  test('is refused for more than one use', async () => {
    const { client } = await service.owner()
    const { agent, intent } = await anIntentAnd(client)
    const body = { agentId: agent.id, usage: 'multi', intentId: intent.id } as const
    expect(await client.cards.create({ body })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      error: expect.stringMatching(/usage: must be single with intentId/),
    })
    expect((await bodyOf(client.cards.list({ query: {} }))).data).toEqual([])
  })

  test('is made once by many requests at the same time', async () => {
    const { client } = await service.owner()
    const { agent, intent } = await anIntentAnd(client)
    const body = { agentId: agent.id, usage: 'single', intentId: intent.id } as const
    const answered = await Promise.all(Array.from({ length: 6 }, () => client.cards.create({ body })))
    expect(answered.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(409)])
    expect(callLines()).toHaveLength(1)
  })

  test('is refused where no card can pay the intent', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client)
    const waiting = await anIntent(client, agent.id)
    const create = (intentId: string, agentId = agent.id) =>
      client.cards.create({ body: { agentId, usage: 'single', intentId } })
    expect((await create(waiting.id)).code).toBe('intent_not_approved')
    expect((await create(waiting.id, (await anAgent(client)).id)).code).toBe('intent_not_found')
    const wallet = await bodyOf(client.wallets.create({ body: { name: 'Savings' } }))
    const transfer = await anIntent(client, agent.id, { walletId: wallet.id })
    await bodyOf(client.intents.approve({ params: { id: transfer.id }, body: {} }))
    expect((await create(transfer.id)).code).toBe('intent_paid_by_transfer')
    expect(calls).toEqual([])
  })

  test('closes when the payment on its intent has ended, and not before', async () => {
    const { client } = await service.owner()
    const { agent, intent } = await anIntentAnd(client)
    const { id } = await aCard(client, { agentId: agent.id, intentId: intent.id, usage: 'single' })
    const { authorizationId, reply } = await network.authorize(id, 25)
    expect(reply.kind).toBe('approved')
    await network.clear(id, authorizationId, 10, { final: false })
    await pass(client, { minutes: 1 })
    expect((await getCard(client, id)).status).toBe('active')
    await network.clear(id, authorizationId, 15)
    await pass(client, { minutes: 1 })
    expect(await getCard(client, id)).toMatchObject({ status: 'closed', closedReason: 'spent' })
    expect((await bodyOf(client.intents.get({ params: { id: intent.id } }))).status).toBe('completed')
  })

  test.each(['cancelled', 'expired'] as const)('closes when the intent is %s', async status => {
    const { client } = await service.owner()
    const { agent, intent } = await anIntentAnd(client)
    const { id } = await aCard(client, { agentId: agent.id, intentId: intent.id, usage: 'single' })
    const other = await aCard(client, { agentId: agent.id })
    if (status === 'cancelled') await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
    else await pass(client, { days: 1 })
    const { closedReason } = await getCard(client, id)
    expect(closedReason).toBe(`intent_${status}`)
    expect((await getCard(client, other.id)).status).toBe('active')
  })

  test('stays as it is when an intent ends that merely names it', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client)
    const { id: cardId } = await aCard(client, { agentId: agent.id })
    const [denied, cancelled] = [
      await anIntent(client, agent.id, { cardId }),
      await anIntent(client, agent.id, { cardId }),
    ]
    await bodyOf(client.intents.deny({ params: { id: denied.id }, body: { reason: 'No' } }))
    await bodyOf(client.intents.cancel({ params: { id: cancelled.id }, body: {} }))
    expect((await getCard(client, cardId)).status).toBe('active')
  })
})
