import { describe, expect, test } from '@jest/globals'
import { tokenScopes } from '../../../src/kernel/contract/scopes.ts'
import { aCardOf, aShopper, issueCredential } from '../../support/cards/reveal.ts'
import { authorize } from '../../support/cards/simulated.ts'
import { aDelegation, anIntent, aToken, aWallet, bodyOf, redeemDelegation } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const merchant = 'shop.example.com'

/** A token that may spend € 50.00 in all, and has an approved intent of € 5.00. */
async function aLimited() {
  const shopper = await aShopper(service, merchant)
  const { client, agent, filler } = shopper
  const scopes = [...tokenScopes.given, 'cards:reveal' as const, 'transfers:create' as const]
  const { id: tokenId, token } = await aToken(client, agent.id, { scopes, maxAmountEuros: 50 })
  const limited = service.client(String(token))
  const intent = await anIntent(limited, agent.id, { merchant, amountEuros: 5 })
  const cardWith = (maxTransactionEuros: number | null, usage: 'single' | 'multi' = 'single') =>
    aCardOf(service, client, agent.id, { usage, limits: { maxTransactionEuros } })
  const read = (cardId: string, by = limited, intentId = intent.id) =>
    by.accessEvents.access({
      params: { id: cardId },
      body: { intentId, purpose: 'Pay', fillerKeyId: filler.id },
    })
  const left = async () =>
    (await bodyOf(client.agentTokens.get({ params: { id: agent.id, tokenId } }))).remainingEuros
  return { ...shopper, limited, intent, cardWith, read, left }
}

describe('a token with a maximum gets the data of a card', () => {
  test('not where the card can be charged more, in any way, and is told what to use', async () => {
    const { card, limited, intent, cardWith, read } = await aLimited()
    const refused = { status: 403, code: 'card_exceeds_token' }
    const { error } = await read(card.id)
    expect(error).toMatch(/issued for the intent alone.* maxTransactionEuros is at most .* € 45\.00 left\.$/)
    const cards = [card, await cardWith(45, 'multi'), await cardWith(null), await cardWith(45.01)]
    for (const { id: cardId } of cards) {
      expect(await read(cardId)).toMatchObject(refused)
      expect(await issueCredential(limited, intent.id, { cardId })).toMatchObject(refused)
      const body = { intentId: intent.id, merchantUrl: `https://${merchant}/cart`, cardId }
      expect(await limited.checkout.createSession({ body })).toMatchObject(refused)
    }
  })

  test('not by a credential that a key has issued', async () => {
    const { client, card, limited, intent, filler } = await aLimited()
    const { id } = await bodyOf(issueCredential(client, intent.id, { cardId: card.id }))
    const redeem = (by = limited) =>
      by.credentials.redeem({ params: { id }, body: { fillerKeyId: filler.id } })
    expect(await redeem()).toMatchObject({ status: 403, code: 'card_exceeds_token' })
    expect((await redeem(client)).status).toBe(200)
  })

  test('that was issued for the intent alone, and is charged no more than that', async () => {
    const { client, agent, intent, read, left } = await aLimited()
    const own = await aCardOf(service, client, agent.id, { usage: 'single', intentId: intent.id })
    expect((await read(own.id)).status).toBe(200)
    expect(await left()).toBe(45)
    expect((await authorize(client, own.id, 50, { merchant })).reply).toBe('declined')
  })

  test('of one payment, which counts towards the maximum until the card is closed', async () => {
    const { client, agent, limited, cardWith, read, left } = await aLimited()
    const [first, second] = [await cardWith(40), await cardWith(10)]
    expect((await read(first.id)).status).toBe(200)
    expect((await read(first.id)).status).toBe(200)
    expect(await left()).toBe(5)
    expect(await read(second.id)).toMatchObject({ code: 'card_exceeds_token' })
    const { id: walletId } = await aWallet(client)
    expect(await anIntent(limited, agent.id, { amountEuros: 6, walletId })).toMatchObject({
      status: 'denied',
    })
    await bodyOf(client.cards.close({ params: { id: first.id }, body: {} }))
    expect(await left()).toBe(45)
    expect((await read(second.id)).status).toBe(200)
  })

  test('once, where two cards would exceed the maximum at once', async () => {
    const { cardWith, read, left } = await aLimited()
    const cards = [await cardWith(30), await cardWith(30), await cardWith(30)]
    const answers = await Promise.all(cards.map(({ id }) => read(id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403])
    expect(await left()).toBe(15)
  })
})

test('the token of a delegation gets the data of a card that was issued for its intent alone', async () => {
  const { client, agent, card } = await aShopper(service, merchant)
  const { token } = await redeemDelegation(client, await aDelegation(client, agent.id))
  const delegated = service.client(String(token))
  const { id: intentId } = await anIntent(delegated, agent.id, { merchant, amountEuros: 5 })
  expect(await issueCredential(delegated, intentId, { cardId: card.id })).toMatchObject({
    status: 403,
    code: 'card_exceeds_token',
  })
  const own = await aCardOf(service, client, agent.id, { usage: 'single', intentId })
  expect((await issueCredential(delegated, intentId, { cardId: own.id })).status).toBe(201)
})
