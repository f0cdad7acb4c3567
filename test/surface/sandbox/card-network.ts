import { describe, expect, test } from '@jest/globals'
import { aCardholder, authorize, authorized, balanceOf, shop } from '../../support/cards/simulated.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf } from '../../support/trace.ts'

const service = await startTestService({ own: true })

describe('the simulated card network', () => {
  test('an approved authorization is held, cleared and refunded', async () => {
    const { client, agent, card } = await aCardholder(service)
    const answer = await authorize(client, card.id, 25.5)
    expect(answer).toMatchObject({
      cardId: card.id,
      ask: 0,
      amountEuros: 25.5,
      reply: 'approved',
      approvedEuros: 25.5,
      reason: null,
    })
    expect(await balanceOf(client, agent.id)).toEqual([74.5, 25.5])
    const authorizationId = String(answer.authorizationId)
    const cleared = await bodyOf(client.sandbox.clearCard({ body: { authorizationId } }))
    expect(cleared).toMatchObject({ reply: 'noted', amountEuros: 25.5, authorizationId, cardId: card.id })
    expect(await balanceOf(client, agent.id)).toEqual([74.5, 0])
    await bodyOf(client.sandbox.refundCard({ body: { authorizationId, amountEuros: 5 } }))
    expect(await balanceOf(client, agent.id)).toEqual([79.5, 0])
  })

  test('a declined authorization has its reason, and holds nothing', async () => {
    const { client, agent, card } = await aCardholder(service, 10)
    const answer = await authorize(client, card.id, 25)
    expect(answer).toMatchObject({ reply: 'declined', approvedEuros: null, amountEuros: 25 })
    expect(answer.reason).toMatch(/€ 10\.00/)
    expect(await balanceOf(client, agent.id)).toEqual([10, 0])
  })

  test('approves a partial amount if the merchant accepts it', async () => {
    const { client, card } = await aCardholder(service, 10)
    const answer = await authorize(client, card.id, 25, { partialAllowed: true })
    expect(answer).toMatchObject({ reply: 'approved', approvedEuros: 10, amountEuros: 25 })
  })

  test('checks a card without an amount, and holds nothing', async () => {
    const { client, agent, card } = await aCardholder(service, 10)
    expect(await authorize(client, card.id, 0)).toMatchObject({ reply: 'approved', approvedEuros: 0 })
    expect(await balanceOf(client, agent.id)).toEqual([10, 0])
  })

  test('asks for more, gives back a part, and gives back the rest', async () => {
    const { client, agent, card } = await aCardholder(service)
    const { authorizationId } = await authorized(client, card.id, 20)
    const increment = () =>
      bodyOf(client.sandbox.incrementCard({ body: { authorizationId, amountEuros: 10 } }))
    expect([await increment(), await increment()]).toMatchObject([
      { ask: 1, reply: 'approved', approvedEuros: 10, authorizationId },
      { ask: 2, reply: 'approved', approvedEuros: 10, authorizationId },
    ])
    expect(await balanceOf(client, agent.id)).toEqual([60, 40])
    await bodyOf(client.sandbox.reverseCard({ body: { authorizationId, amountEuros: 15 } }))
    expect(await balanceOf(client, agent.id)).toEqual([75, 25])
    const whole = await bodyOf(client.sandbox.voidCard({ body: { authorizationId } }))
    expect(whole).toMatchObject({ reply: 'noted', amountEuros: null })
    expect(await balanceOf(client, agent.id)).toEqual([100, 0])
  })

  test('lets an authorization expire', async () => {
    const { client, agent, card } = await aCardholder(service)
    const { authorizationId } = await authorized(client, card.id, 20)
    await bodyOf(client.sandbox.expireCard({ body: { authorizationId } }))
    expect(await balanceOf(client, agent.id)).toEqual([100, 0])
  })

  test('clears in parts, more than was authorized, and without an authorization', async () => {
    const { client, agent, card } = await aCardholder(service)
    const { authorizationId } = await authorized(client, card.id, 20)
    const clear = (body: object) => bodyOf(client.sandbox.clearCard({ body }))
    await clear({ authorizationId, amountEuros: 5, final: false })
    expect(await balanceOf(client, agent.id)).toEqual([80, 15])
    expect(await clear({ authorizationId })).toMatchObject({ amountEuros: 15 })
    expect(await balanceOf(client, agent.id)).toEqual([80, 0])
    await clear({ authorizationId, amountEuros: 3 })
    await clear({ ...shop, cardId: card.id, amountEuros: 7 })
    expect(await balanceOf(client, agent.id)).toEqual([70, 0])
  })

  test('may clear before it asks, and refund what was never paid', async () => {
    const { client, agent, card } = await aCardholder(service)
    const authorizationId = 'first-cleared'
    const body = { ...shop, cardId: card.id, authorizationId, amountEuros: 20 }
    await bodyOf(client.sandbox.clearCard({ body }))
    await authorize(client, card.id, 20, { authorizationId })
    expect(await balanceOf(client, agent.id)).toEqual([80, 0])
    await bodyOf(client.sandbox.refundCard({ body: { ...shop, cardId: card.id, amountEuros: 5 } }))
    expect(await balanceOf(client, agent.id)).toEqual([85, 0])
  })

  test('may send a message twice, which counts once and is answered alike', async () => {
    const { client, agent, card } = await aCardholder(service)
    const first = await authorize(client, card.id, 20, { messageId: 'twice' })
    expect(first.authorizationId).toBe('auth_of_twice')
    const again = { messageId: 'twice', sentAt: first.sentAt }
    expect(await authorize(client, card.id, 20, again)).toEqual(first)
    expect(await balanceOf(client, agent.id)).toEqual([80, 20])
    expect(await authorize(client, card.id, 30, again)).toMatchObject({ reply: 'declined' })
    expect(await balanceOf(client, agent.id)).toEqual([80, 20])
  })

  test('sends one message for one idempotency key', async () => {
    const { client, agent, card } = await aCardholder(service)
    const ask = () =>
      client.sandbox.authorizeCard({
        body: { ...shop, cardId: card.id, amountEuros: 20 },
        idempotencyKey: 'once',
      })
    const [first, again] = [await ask(), await ask()]
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await balanceOf(client, agent.id)).toEqual([80, 20])
  })

  test('comes in by the door of all processors, and the audit trail shows who played it', async () => {
    const { client, card } = await aCardholder(service)
    const answer = await client.sandbox.authorizeCard({
      body: { ...shop, cardId: card.id, amountEuros: 20 },
    })
    expect(await traceOf(service, answer)).toMatchObject({
      actions: expect.arrayContaining(['sandbox.authorizeCard']),
    })
    const messages = await service.sql('select kind, card_id from card_messages where id = $1', [
      (await bodyOf(Promise.resolve(answer))).messageId,
    ])
    expect(messages).toEqual([{ kind: 'authorization', card_id: card.id }])
    const { data } = await bodyOf(client.events.list({ query: { limit: 100 } }))
    expect(data.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['card_network.message_sent', 'transaction.created']),
    )
  })

  test('lets the processor approve in the place of a service that it cannot reach', async () => {
    const { client, agent, card } = await aCardholder(service, 10)
    const answer = await authorize(client, card.id, 91.01)
    expect(answer).toMatchObject({ reply: 'approved', approvedEuros: 91.01, reason: null })
    await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(answer.authorizationId) } }))
    expect(await balanceOf(client, agent.id)).toEqual([0, 0])
    expect((await bodyOf(client.billing.balance())).owedEuros).toBe(81.01)
  })

  test('lets the processor decline what the service has approved too late', async () => {
    const { client, agent, card } = await aCardholder(service)
    const answer = await authorize(client, card.id, 91.02, { messageId: 'late' })
    expect(answer).toMatchObject({ reply: 'declined', approvedEuros: null })
    expect(answer.reason).toContain('too late')
    expect(await balanceOf(client, agent.id)).toEqual([100, 0])
    const messages = await service.sql(
      `select id, kind from card_messages where card_id = $1 order by kind`,
      [card.id],
    )
    expect(messages).toEqual([
      { id: 'late', kind: 'authorization' },
      { id: 'late:outcome', kind: 'outcome' },
    ])
  })

  test('lets a request come twice, which counts once', async () => {
    const { client, agent, card } = await aCardholder(service)
    expect(await authorize(client, card.id, 91.03)).toMatchObject({ reply: 'approved', approvedEuros: 91.03 })
    expect(await balanceOf(client, agent.id)).toEqual([8.97, 91.03])
  })

  test('ships a card, and reports its state in a mobile wallet', async () => {
    const { client, card } = await aCardholder(service)
    const cardId = card.id
    await bodyOf(client.sandbox.shipCard({ body: { cardId, carrier: 'Post', trackingNumber: 'RR1DE' } }))
    const wallet = { cardId, wallet: 'apple_pay', status: 'active' } as const
    const answer = await bodyOf(client.sandbox.changeMobileWallet({ body: wallet }))
    expect(answer).toMatchObject({ reply: 'noted', tokenId: expect.any(String) })
    const { data } = await bodyOf(client.events.list({ query: { limit: 100 } }))
    expect(data.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['card.shipped', 'mobile_wallet.updated']),
    )
  })

  test('asks a card by its old number after a rotation', async () => {
    const { client, card } = await aCardholder(service)
    await bodyOf(client.cards.rotate({ params: { id: card.id }, body: { overlapMinutes: 60 } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const { last4 } = await bodyOf(client.cards.get({ params: { id: card.id } }))
    expect(last4).not.toBe(card.last4)
    expect(await authorize(client, card.id, 1, { last4: card.last4 })).toMatchObject({ reply: 'approved' })
    expect(await authorize(client, card.id, 1)).toMatchObject({ reply: 'approved' })
  })
})
