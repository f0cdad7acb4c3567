import { describe, expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { balanceOf, client, network, paymentsOf, service, transactionsOf, usesOf } from './service.ts'

const secondUrl = await service.another()

const request = (authorizationId: string) => ({
  kind: 'authorization' as const,
  authorizationId,
  ask: 0,
  amountCents: cents(1_001n),
  partialAllowed: false,
  merchant: bookshop,
})

const holdsOf = (cardId: string) =>
  service.sql<{ held: number }>(
    `select sum(held_cents)::int as held from card_authorizations where card_id = $1`,
    [cardId],
  )

describe('fifty authorizations at once, through two API processes', () => {
  const fifty = (cardId: string) =>
    Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        network.send(cardId, request(`${cardId} ${n}`), undefined, n % 2 ? secondUrl : service.url),
      ),
    )

  test('get exactly the three that the wallet can pay, to the cent', async () => {
    const { agent, card } = await aPayingCard(client, 40.03)
    const answers = await fifty(card.id)
    expect(answers.filter(({ reply }) => reply.kind === 'approved')).toHaveLength(3)
    expect(await balanceOf(agent.id)).toEqual([10, 30.03])
    expect(await usesOf([agent.id, card.id])).toEqual([
      { reserved: 3_003, spent: 0, open: 3, made: 0 },
      { reserved: 3_003, spent: 0, open: 3, made: 0 },
    ])
    expect(await holdsOf(card.id)).toEqual([{ held: 3_003 }])
    await expectVerifiedLedger(client)
  })

  test('get exactly the three that the daily limit of the card allows', async () => {
    const { agent, card } = await aPayingCard(client, 1_000, {
      card: { limits: { dailyLimitEuros: 40.03 } },
    })
    const answers = await fifty(card.id)
    expect(answers.filter(({ reply }) => reply.kind === 'approved')).toHaveLength(3)
    expect(await balanceOf(agent.id)).toEqual([969.97, 30.03])
  })

  test('of one payment that an intent covers get one', async () => {
    const { agent, card } = await aPayingCard(client, 100, { rules: { requireIntent: true } })
    await anIntent(client, agent.id, { amountEuros: 20 })
    const answers = await fifty(card.id)
    expect(answers.filter(({ reply }) => reply.kind === 'approved')).toHaveLength(1)
    const query = { status: 'authorized' as const }
    const { data } = await bodyOf(client.authorizations.list({ params: { id: card.id }, query }))
    expect(data).toMatchObject([{ source: 'intent', heldEuros: 10.01 }])
    expect(await balanceOf(agent.id)).toEqual([78, 22])
  })
})

describe('one message', () => {
  test('a message sent twenty times concurrently is processed once, and gets the same bytes each time', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const message = await network.messageOf(card.id, request('often'))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => network.deliver(message, { at: n % 2 ? secondUrl : service.url })),
    )
    answers.push(await network.deliver(message))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await balanceOf(agent.id)).toEqual([89.99, 10.01])
    expect(await transactionsOf(card.id)).toHaveLength(1)
  })
})

describe('an authorization while', () => {
  const changes = {
    'its card is frozen': ({ card }: Parties) => client.cards.freeze({ params: { id: card.id } }),
    'its card is closed': ({ card }: Parties) => client.cards.close({ params: { id: card.id } }),
    'its card gets another number': ({ card }: Parties) =>
      client.cards.rotate({ params: { id: card.id }, body: {} }),
    'its agent is frozen': ({ agent }: Parties) => client.agents.freeze({ params: { id: agent.id } }),
    'its agent is deleted': ({ agent }: Parties) => client.agents.delete({ params: { id: agent.id } }),
    'its intent is cancelled': ({ intent }: Parties) => client.intents.cancel({ params: { id: intent.id } }),
  }
  type Parties = Awaited<ReturnType<typeof parties>>

  async function parties() {
    const { agent, card } = await aPayingCard(client, 100, { rules: { requireIntent: true } })
    return { agent, card, intent: await anIntent(client, agent.id, { amountEuros: 10.01 }) }
  }

  test.each(Object.entries(changes))(
    '%s is before or after it, and holds only what it says',
    async (_, change) => {
      const all = await parties()
      const message = await network.messageOf(all.card.id, request(`during ${all.card.id}`))
      const [answer] = await Promise.all([network.deliver(message), change(all)])
      const [payment] = await paymentsOf(all.card.id)
      const isApproved = answer.reply.kind === 'approved'
      expect(payment).toMatchObject({
        heldEuros: isApproved ? 10.01 : 0,
        approvedEuros: isApproved ? 10.01 : 0,
      })
      const { status } = await bodyOf(client.intents.get({ params: { id: all.intent.id } }))
      if (isApproved) expect(status).toBe('approved')
      await expectVerifiedLedger(client)
    },
  )
})
