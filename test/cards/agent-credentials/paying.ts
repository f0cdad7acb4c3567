import { describe, expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { asked, issue } from '../../support/cards/agent-credentials.ts'
import { bookshop, networkBefore } from '../../support/cards/network.ts'
import { aCardOf, aShopper } from '../../support/cards/reveal.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const network = networkBefore(service)

const SHOP = { descriptor: 'SHOP 1234 BERLIN', url: 'https://shop.example.com/pay', mcc: '5942' }

async function aToken(members: object = {}) {
  const shopper = await aShopper(service)
  const { client, card } = shopper
  const { id } = await bodyOf(issue(client, { ...asked(shopper), ...members }))
  const [row] = await service.sql<{ token: string }>(
    'select token_id as token from agent_credentials where id = $1',
    [id],
  )
  const networkTokenId = String(row?.token)
  const pay = (euros: number, merchant: object = SHOP, cardId = card.id) =>
    network.authorize(cardId, euros, { ...merchant, networkTokenId })
  const read = () => bodyOf(client.agentCredentials.get({ params: { id } }))
  return { ...shopper, id, pay, read }
}

const declined = (reason: RegExp) => ({ kind: 'declined', reason: expect.stringMatching(reason) })

describe('a payment by a network token', () => {
  test('is approved within its limit, which it uses up, and a reversal gives it back', async () => {
    const { pay, read, card } = await aToken({ amountLimitEuros: 20 })
    const first = await pay(15)
    expect(first.reply.kind).toBe('approved')
    expect(await read()).toMatchObject({ spentEuros: 15, charges: 1 })
    expect((await pay(5.01)).reply).toEqual(declined(/€ 20\.00: € 15\.00 used, € 5\.00 left/))
    expect(await read()).toMatchObject({ spentEuros: 15, charges: 1 })
    await network.reverse(card.id, first.authorizationId)
    expect(await read()).toMatchObject({ spentEuros: 0, charges: 1 })
    expect((await pay(5.01)).reply.kind).toBe('approved')
  })

  test('is approved as often as the limit lets it, of twenty at once', async () => {
    const { pay, read } = await aToken({ amountLimitEuros: 20 })
    const replies = (await Promise.all(Array.from({ length: 20 }, () => pay(9)))).map(
      ({ reply }) => reply.kind,
    )
    expect(replies.filter(kind => kind === 'approved')).toHaveLength(2)
    expect(await read()).toMatchObject({ spentEuros: 18, charges: 2 })
  })

  test('is raised within its limit, also by an increment that does not name the token', async () => {
    const { pay, read, card } = await aToken({ amountLimitEuros: 20 })
    const { authorizationId } = await pay(15)
    const increase = async (ask: number, euros: number) => {
      const merchant = { ...bookshop, ...SHOP }
      const amountCents = cents(BigInt(Math.round(euros * 100)))
      const increment = { kind: 'authorization', authorizationId, ask, amountCents, merchant } as const
      return (await network.send(card.id, { ...increment, partialAllowed: false })).reply
    }
    expect(await increase(1, 5.01)).toEqual(declined(/€ 20\.00: € 15\.00 used, € 5\.00 left/))
    expect((await increase(2, 5)).kind).toBe('approved')
    expect(await read()).toMatchObject({ spentEuros: 20, charges: 1 })
  })

  test('is declined outside its merchants and its card, and beyond its charges', async () => {
    const { pay, client, agent } = await aToken({ maxCharges: 1 })
    expect((await pay(1, { descriptor: 'CASINO', url: null })).reply).toEqual(declined(/does not pay CASINO/))
    const other = await aCardOf(service, client, agent.id)
    expect((await pay(1, SHOP, other.id)).reply).toEqual(declined(/is unknown/))
    expect((await pay(1)).reply.kind).toBe('approved')
    expect((await pay(1)).reply).toEqual(declined(/pays once: 1 used, 0 left/))
  })

  test('is tried by its id in the sandbox, within its merchants and its limit', async () => {
    const { client, card, id: agentCredentialId, read } = await aToken({ amountLimitEuros: 20 })
    const simulate = (amountEuros: number, more: object = {}) => {
      const merchant = { merchant: SHOP.descriptor, url: SHOP.url }
      const body = { cardId: card.id, agentCredentialId, amountEuros, ...merchant, ...more }
      return client.sandbox.authorizeCard({ body })
    }
    const { authorizationId, reply } = await bodyOf(simulate(15))
    expect([reply, await read()]).toMatchObject(['approved', { spentEuros: 15, charges: 1 }])
    expect(await bodyOf(simulate(5.01))).toMatchObject({
      reply: 'declined',
      reason: expect.stringMatching(/€ 5\.00 left/),
    })
    const casino = { merchant: 'CASINO', url: null }
    expect(await bodyOf(simulate(1, casino))).toMatchObject({
      reply: 'declined',
      reason: expect.stringMatching(/does not pay CASINO/),
    })
    const body = { authorizationId: String(authorizationId) }
    expect((await bodyOf(client.sandbox.clearCard({ body }))).reply).toBe('noted')
    expect(await read()).toMatchObject({ spentEuros: 15, charges: 1 })
    const unknown = await simulate(1, { agentCredentialId: 'agentcredential_01jd8x2m4ye7k9v0c3q5r6t8wz' })
    expect([unknown.status, unknown.code]).toEqual([404, 'agent_credential_not_found'])
    const twice = await simulate(1, { networkTokenId: 'dtoken_1' })
    expect([twice.status, twice.code]).toEqual([400, 'token_named_twice'])
    expect(await read()).toMatchObject({ spentEuros: 15, charges: 1 })
  })

  test('is declined from the moment on in which the token is suspended, and once it is revoked', async () => {
    const { pay, client, id } = await aToken()
    const params = { id }
    await bodyOf(client.agentCredentials.suspend({ params }))
    expect((await pay(1)).reply).toEqual(declined(/suspended/))
    await bodyOf(client.agentCredentials.resume({ params }))
    expect((await pay(1)).reply.kind).toBe('approved')
    await bodyOf(client.agentCredentials.revoke({ params }))
    expect((await pay(1)).reply).toEqual(declined(/revoked/))
  })
})
