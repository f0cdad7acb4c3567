import { describe, expect, test } from '@jest/globals'
import { anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aPayer,
  balanceOf,
  begun,
  client,
  HOST,
  intentOf,
  paymentsOf,
  service,
  tokensOf,
  transactionsOf,
  usesOf,
} from './service.ts'

type Payer = Awaited<ReturnType<typeof aPayer>>

const recordsOf = async ({ card, agent, intent }: Payer) => ({
  payments: await paymentsOf(card.id),
  transactions: await transactionsOf(card.id),
  tokens: await tokensOf(card.id),
  balance: await balanceOf(agent.id),
  status: (await intentOf(intent.id)).status,
  payment: (await intentOf(intent.id)).payment,
})

const decisionsOf = ({ agent }: Payer) =>
  service.sql<{ allowed: boolean }>(
    `select (result->>'allowed')::boolean as allowed from decisions
     where agent_id = $1 and subject_type = 'card_authorization' order by id`,
    [agent.id],
  )

describe('the decision about a machine payment', () => {
  const obstacles: Record<string, [(payer: Payer) => Promise<unknown>, RegExp]> = {
    'a control of the card stands against the host': [
      ({ card }) =>
        bodyOf(client.cardControls.set({ params: { id: card.id }, body: { merchantBlocklist: [HOST] } })),
      /blocklist/,
    ],
    'the policy has come to forbid the host': [
      async ({ agent }) => {
        const policy = await aPolicy(client, { merchantBlocklist: [HOST], autoApproveLimitEuros: 1_000 })
        const params = { agentId: agent.id }
        return bodyOf(client.policies.assign({ params, body: { policyId: policy.id } }))
      },
      /blocklist/,
    ],
    'the day of the card has no room for it': [
      ({ card }) =>
        bodyOf(client.cards.setLimits({ params: { id: card.id }, body: { dailyLimitEuros: 19.99 } })),
      /€ 19\.99/,
    ],
  }

  test.each(Object.entries(obstacles))(
    'is no where %s, and leaves itself alone',
    async (_, [change, reason]) => {
      const payer = await aPayer()
      await change(payer)
      const before = await recordsOf(payer)
      const answer = await begun(payer)
      expect(answer).toMatchObject({
        blocker: null,
        authorizationId: null,
        reason: expect.stringMatching(reason),
      })
      expect(await recordsOf(payer)).toEqual(before)
      expect(await decisionsOf(payer)).toEqual([{ allowed: false }])
    },
  )

  test('a permitted payment is approved, and the decision is recorded with it', async () => {
    const payer = await aPayer()
    const { reason, authorizationId } = await begun(payer)
    expect(reason).toBe('An approved intent covers this payment.')
    expect(await decisionsOf(payer)).toEqual([{ allowed: true }])
    expect(await paymentsOf(payer.card.id)).toMatchObject([
      { id: authorizationId, decision: { allowed: true } },
    ])
  })

  test('is not even made for an intent that pays nothing now', async () => {
    const payer = await aPayer({ intent: { amountEuros: 20 } })
    expect((await begun(payer, 22.01)).blocker).toBe('amount_above_held')
    await begun(payer, 22)
    expect((await begun(payer)).blocker).toBe('intent_being_paid')
    const other = await aPayer()
    expect((await begun({ card: payer.card, intent: other.intent })).blocker).toBe('intent_not_found')
    await bodyOf(client.intents.cancel({ params: { id: other.intent.id } }))
    expect((await begun(other)).blocker).toBe('intent_not_approved')
    expect(await decisionsOf(other)).toEqual([])
  })

  test('is not made for a card that is frozen, closed or for another intent', async () => {
    const payer = await aPayer()
    const before = await recordsOf(payer)
    const params = { id: payer.card.id }
    await bodyOf(client.cards.freeze({ params }))
    const frozen = { blocker: 'card_cannot_pay', reason: expect.stringMatching(/The card is frozen/) }
    expect(await begun(payer)).toMatchObject(frozen)
    await bodyOf(client.cards.close({ params }))
    expect((await begun(payer)).reason).toMatch(/The card is closed/)
    expect(await recordsOf(payer)).toEqual(before)
    expect(await decisionsOf(payer)).toEqual([])
  })

  test('is not made for another card than the intent names, or where the agent cannot spend', async () => {
    const payer = await aPayer()
    const second = await bodyOf(client.cards.create({ body: { agentId: payer.agent.id, usage: 'multi' } }))
    const named = await anIntent(client, payer.agent.id, {
      merchant: HOST,
      amountEuros: 5,
      cardId: second.id,
    })
    expect((await begun({ card: payer.card, intent: named }, 5)).blocker).toBe('intent_other_card')
    await bodyOf(client.agents.freeze({ params: { id: payer.agent.id } }))
    expect((await begun(payer)).blocker).toBe('agent_not_active')
  })

  test('lets a card for one payment make one, which may come to nothing', async () => {
    const payer = await aPayer({ card: { usage: 'single' } })
    const second = await anIntent(client, payer.agent.id, { merchant: HOST, amountEuros: 5 })
    const first = await begun(payer)
    const again = await begun({ card: payer.card, intent: second }, 5)
    expect(again).toMatchObject({ authorizationId: null, reason: expect.stringMatching(/for one payment/) })
    await first.settle('not_paid')
    const other = await begun({ card: payer.card, intent: second }, 5)
    const { authorizationId } = await other.authorize(5)
    await other.clear(authorizationId, 5)
    await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    expect(await bodyOf(client.cards.get({ params: { id: payer.card.id } }))).toMatchObject({
      status: 'closed',
      closedReason: 'spent',
    })
  })
})

describe('what a machine payment counts', () => {
  test('is counted once for the agent, by its intent, and for the card from its beginning', async () => {
    const payer = await aPayer({ card: { limits: { dailyLimitEuros: 30 } } })
    const payment = await begun(payer)
    const of = () => usesOf([payer.agent.id, payer.card.id])
    const open = [
      { reserved: 2_200, spent: 0, open: 1, made: 0 },
      { reserved: 2_000, spent: 0, open: 0, made: 0 },
    ]
    expect(await of()).toEqual(open)
    const second = await anIntent(client, payer.agent.id, {
      merchant: HOST,
      amountEuros: 11,
      purpose: 'Other',
    })
    expect(await begun({ card: payer.card, intent: second }, 11)).toMatchObject({
      authorizationId: null,
      reason: expect.stringMatching(/€ 20\.00 used, € 10\.00 left/),
    })
    await bodyOf(client.intents.cancel({ params: { id: second.id } }))
    await payment.authorize()
    expect(await of()).toEqual([open[0], { reserved: 2_000, spent: 0, open: 0, made: 0 }])
    await payment.settle('paid')
    const spent = { reserved: 0, spent: 2_000, open: 0 }
    expect(await of()).toEqual([
      { ...spent, made: 1 },
      { ...spent, made: 0 },
    ])
  })

  test('is free again for agent and card once it came to nothing', async () => {
    const payer = await aPayer({ card: { limits: { dailyLimitEuros: 20 } } })
    const payment = await begun(payer)
    await payment.settle('not_paid')
    expect(await usesOf([payer.card.id])).toEqual([{ reserved: 0, spent: 0, open: 0, made: 0 }])
    expect((await begun(payer)).authorizationId).not.toBeNull()
  })
})

describe('machine payments at once', () => {
  test('on one intent are one: the others find it being paid', async () => {
    const payer = await aPayer()
    const answers = await Promise.all(Array.from({ length: 10 }, () => begun(payer)))
    const blockers = answers.map(({ blocker }) => blocker)
    expect(blockers.filter(blocker => blocker === null)).toHaveLength(1)
    expect(new Set(blockers)).toEqual(new Set([null, 'intent_being_paid']))
    expect(await paymentsOf(payer.card.id)).toHaveLength(1)
    expect(await tokensOf(payer.card.id)).toHaveLength(1)
  })

  test('are as many as the limit of the card allows, each on an intent of its own', async () => {
    const payer = await aPayer({ euros: 1_000, card: { limits: { dailyLimitEuros: 45 } } })
    const merchants = Array.from({ length: 8 }, (_, n) => `shop${n}.example.com`)
    const intents = await Promise.all(
      merchants.map(merchant => anIntent(client, payer.agent.id, { merchant, amountEuros: 10 })),
    )
    const answers = await Promise.all(intents.map(intent => begun({ card: payer.card, intent }, 10)))
    expect(answers.filter(({ authorizationId }) => authorizationId !== null)).toHaveLength(4)
  })

  test('of a network and a checkout on the same intent leave one payment', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    const settled = await Promise.all([payment.settle('paid'), payment.authorize(), payment.clear(null)])
    const transactions = await transactionsOf(payer.card.id)
    expect(transactions.filter(({ status }) => status === 'completed')).toMatchObject([
      { id: settled[0], type: 'mpp', amountEuros: 20 },
    ])
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    await expectVerifiedLedger(client)
  })
})
