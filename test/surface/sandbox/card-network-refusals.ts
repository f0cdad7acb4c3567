import { describe, expect, test } from '@jest/globals'
import { aCardholder, authorized, shop } from '../../support/cards/simulated.ts'
import { aKey, aLiveClient, anAgent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

describe('the simulated card network refuses', () => {
  const nothing = { authorizationId: 'auth_of_nothing' }

  test.each([
    ['an unknown card', 'authorize', { ...shop, cardId: 'card_1', amountEuros: 1 }, 404, 'cardId'],
    ['a clearing of nothing', 'clear', nothing, 400, 'cardId: required'],
    ['an increment of nothing', 'increment', { ...nothing, amountEuros: 1 }, 400, 'cardId: required'],
    ['a refund of nothing', 'refund', { amountEuros: 1 }, 400, 'cardId: required'],
    ['a reversal of nothing', 'void', nothing, 400, 'cardId: required'],
  ])('%s', async (_, path, body, status, words) => {
    const { key } = await service.owner()
    const answer = await service.http('POST', `/simulate/card/${path}`, { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(words)])
  })

  test('a card of another owner, an invalid number, and an unknown merchant', async () => {
    const [{ client, card }, stranger] = [await aCardholder(service), await service.owner()]
    const body = { ...shop, cardId: card.id, amountEuros: 1 }
    expect(await stranger.client.sandbox.authorizeCard({ body })).toMatchObject({ status: 404 })
    const other = card.last4 === '0000' ? '0001' : '0000'
    const number = await client.sandbox.authorizeCard({ body: { ...body, last4: other } })
    expect(number).toMatchObject({ status: 404, code: 'number_not_found' })
    const unnamed = await client.sandbox.clearCard({ body: { cardId: card.id, amountEuros: 1 } })
    expect(unnamed).toMatchObject({ status: 400, code: 'merchant_unnamed' })
  })

  test('to clear what is cleared, without an amount', async () => {
    const { client, card } = await aCardholder(service)
    const { authorizationId } = await authorized(client, card.id, 20)
    const clear = () => client.sandbox.clearCard({ body: { authorizationId } })
    await bodyOf(clear())
    expect(await clear()).toMatchObject({ status: 400, code: 'nothing_left' })
  })

  test('a card that has no number yet', async () => {
    const { client, card } = await aCardholder(service, 10, { card: { displayName: 'Sandbox late' } })
    const answer = await client.sandbox.authorizeCard({ body: { ...shop, cardId: card.id, amountEuros: 1 } })
    expect(answer).toMatchObject({ status: 400, code: 'card_not_issued' })
  })

  test.each([
    ['amountEuros', { amountEuros: -1 }],
    ['amountEuros', { amountEuros: 1.005 }],
    ['amountEuros', { amountEuros: 1_000_000_000 }],
    ['merchant', { merchant: '' }],
    ['merchant', { merchant: 'a'.repeat(201) }],
    ['mcc', { mcc: '59' }],
    ['original', { original: { amount: '12.00', currency: 'XYZ' } }],
    ['original', { original: { amount: '0.00', currency: 'USD' } }],
    ['original', { original: { amount: '0', currency: 'JPY' } }],
    ['original', { original: { amount: '12.00', currency: 'EUR' } }],
    ['country', { country: 'XX' }],
    ['url', { url: 'ftp://books.example' }],
    ['messageId', { messageId: 'a b' }],
    ['last4', { last4: '42424' }],
    ['sentAt', { sentAt: 'now' }],
    ['processorCardId', { processorCardId: 'sandboxcard_1' }],
  ])('a wrong %s', async (member, wrong) => {
    const { key } = await service.owner()
    const body = { ...shop, cardId: 'card_1', amountEuros: 1, ...wrong }
    const answer = await service.http('POST', '/simulate/card/authorize', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(member)
  })

  test('a body with the number of a card, as a whole, and does not repeat it', async () => {
    const { key } = await service.owner()
    const body = { ...shop, cardId: 'card_1', amountEuros: 1, merchant: 'SHOP 4242 4242 4242 4242' }
    const answer = await service.http('POST', '/simulate/card/authorize', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.text).not.toContain('4242')
  })

  test('live mode, agents, and keys without the scope', async () => {
    const owner = await service.owner()
    const body = { ...shop, cardId: 'card_1', amountEuros: 1 }
    const live = await aLiveClient(service, owner)
    expect(await live.sandbox.authorizeCard({ body })).toMatchObject({ status: 400, code: 'test_mode_only' })
    const { token } = await aToken(owner.client, (await anAgent(owner.client)).id)
    const agent = service.client(String(token))
    expect(await agent.sandbox.authorizeCard({ body })).toMatchObject({ status: 403, code: 'wrong_caller' })
    const reader = service.client(String((await aKey(owner.client, { scopes: ['sandbox:read'] })).key))
    expect(await reader.sandbox.authorizeCard({ body })).toMatchObject({ code: 'missing_scope' })
  })
})
