import { describe, expect, test } from '@jest/globals'
import { tokenScopes } from '../../../src/kernel/contract/scopes.ts'
import { times } from '../../support/at-once.ts'
import { aKeyPair } from '../../support/cards/encryption-keys.ts'
import { aCardOf, issueCredential, jwkOf, register } from '../../support/cards/reveal.ts'
import { agentTokensIn } from '../../support/control/agent-tokens.ts'
import {
  aBeneficiary,
  aDelegation,
  anAgentUnder,
  anIntent,
  aToken,
  aWallet,
  bodyOf,
  redeemDelegation,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { clientOf } = agentTokensIn(service)
const scopes = ['intents:write', 'transfers:create', 'tokens:read'] as const

async function aPayer() {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
  const { id: payee } = await aWallet(client, 0, { name: 'Bookshop' })
  const token = await aToken(client, agent.id, { scopes: [...scopes], maxAmountEuros: 30 })
  const tokenClient = clientOf(token)
  const params = { id: agent.id, tokenId: token.id }
  const pay = (intentId: string, amountEuros: number, to: object = { toWalletId: payee }, by = tokenClient) =>
    by.transfers.create({ body: { fromWalletId: agent.walletId, intentId, amountEuros, ...to } })
  return { client, agent, payee, tokenClient, pay, use: () => bodyOf(client.agentTokens.get({ params })) }
}

describe('the budget of a token', () => {
  test('limits what the token pays on intents that a key has declared', async () => {
    const { client, agent, payee, tokenClient, pay, use } = await aPayer()
    const declare = (amountEuros: number, by = client) =>
      anIntent(by, agent.id, { amountEuros, walletId: payee })
    const [own, first, second] = [await declare(10, tokenClient), await declare(15), await declare(15)]
    expect((await pay(first.id, 15)).status).toBe(201)
    expect(await use()).toMatchObject({ heldEuros: 10, spentEuros: 15, remainingEuros: 5 })
    const refused = await pay(second.id, 15)
    expect(refused).toMatchObject({ status: 400, code: 'token_budget_exceeded' })
    expect(refused.error).toBe('amountEuros: € 15.00 exceeds the € 5.00 left of the token’s budget.')
    expect((await pay(own.id, 10)).status).toBe(201)
    expect((await declare(5.01, tokenClient)).status).toBe('denied')
    expect((await pay(second.id, 5)).status).toBe(201)
    expect(await use()).toMatchObject({ heldEuros: 0, spentEuros: 30, remainingEuros: 0 })
    expect((await declare(0.01, tokenClient)).status).toBe('denied')
  })

  test('is never exceeded by many payments at once', async () => {
    const { client, agent, payee, pay, use } = await aPayer()
    const intents = await times(8, () => anIntent(client, agent.id, { amountEuros: 7, walletId: payee }))
    const answers = await Promise.all(intents.map(({ id }) => pay(id, 7)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    expect(await use()).toMatchObject({ spentEuros: 28, remainingEuros: 2 })
  })

  test('gets back what a failed payment has used', async () => {
    const { client, agent, pay, use } = await aPayer()
    const { id: beneficiaryId } = await aBeneficiary(client)
    const intent = await anIntent(client, agent.id, { amountEuros: 20, beneficiaryId })
    const transfer = await bodyOf(pay(intent.id, 20, { beneficiaryId }))
    expect(await use()).toMatchObject({ heldEuros: 20, remainingEuros: 10 })
    await bodyOf(client.transfers.cancel({ params: { id: transfer.id } }))
    expect(await use()).toMatchObject({ heldEuros: 0, spentEuros: 0, remainingEuros: 30 })
    expect((await pay(intent.id, 20, { beneficiaryId }, client)).status).toBe(201)
    expect(await use()).toMatchObject({ remainingEuros: 30 })
  })
})

test('a token with a budget opens a card only for intents that it declared', async () => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
  const card = await aCardOf(service, client, agent.id)
  const token = await aToken(client, agent.id, {
    scopes: [...tokenScopes.given, 'cards:reveal'],
    maxAmountEuros: 30,
  })
  const tokenClient = clientOf(token)
  const filler = await aKeyPair()
  await register(client, filler)
  const [ofKey, own] = [await anIntent(client, agent.id), await anIntent(tokenClient, agent.id)]
  const ways = (intentId: string) => [
    issueCredential(tokenClient, intentId, { cardId: card.id }),
    tokenClient.checkout.createSession({ body: { intentId, merchantUrl: 'https://shop.example.com/' } }),
    tokenClient.accessEvents.access({
      params: { id: card.id },
      body: { intentId, purpose: 'checkout', publicKeyJwk: jwkOf(filler) },
    }),
  ]
  for (const answer of await Promise.all(ways(ofKey.id)))
    expect(answer).toMatchObject({ status: 403, code: 'intent_other_budget' })
  // A card for the intent alone: another one can be charged beyond the budget.
  const ofOwn = await aCardOf(service, client, agent.id, { usage: 'single', intentId: own.id })
  expect((await issueCredential(tokenClient, own.id, { cardId: ofOwn.id })).status).toBe(201)
})

describe('the token of a delegation', () => {
  test('sees no records but its own', async () => {
    const { client, agent, payee, pay } = await aPayer()
    const own = await redeemDelegation(client, await aDelegation(client, agent.id, { label: 'Own' }))
    const other = await redeemDelegation(client, await aDelegation(client, agent.id, { label: 'Other' }))
    const tokenClient = clientOf(own)
    const intent = await anIntent(client, agent.id, { amountEuros: 5, walletId: payee })
    await bodyOf(pay(intent.id, 5, { toWalletId: payee }, client))
    const ownIntent = await anIntent(tokenClient, agent.id, { amountEuros: 5, walletId: payee })
    await bodyOf(pay(ownIntent.id, 5, { toWalletId: payee }, client))
    const ids = async (page: Promise<{ data: { id: string }[] }>) => (await page).data.map(({ id }) => id)
    const params = { id: agent.id }
    expect(await ids(bodyOf(tokenClient.agentTokens.list({ params })))).toEqual([own.tokenId])
    const get = tokenClient.agentTokens.get({ params: { ...params, tokenId: String(other.tokenId) } })
    expect((await get).status).toBe(404)
    expect(await ids(bodyOf(tokenClient.delegations.list()))).toEqual([own.id])
    expect((await bodyOf(tokenClient.transactions.list())).data.map(({ intentId }) => intentId)).toEqual([
      ownIntent.id,
    ])
    const [foreign] = (await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))).data
    expect((await tokenClient.transactions.get({ params: { id: String(foreign?.id) } })).status).toBe(404)
    expect((await bodyOf(tokenClient.merchants.suggestions())).data).toMatchObject([{ spends: 1 }])
    const visible = (await bodyOf(tokenClient.events.list({ query: { limit: 100 } }))).data
    expect(visible.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['delegation.created', 'token.created', 'intent.created', 'intent.completed']),
    )
    for (const { data } of visible) expect(data).toMatchObject({ delegationId: own.id })
    const [invisible] = (await bodyOf(client.events.list({ query: { event: 'token.created' } }))).data
    expect(invisible?.data).toMatchObject({ tokenId: other.tokenId })
    expect((await tokenClient.events.get({ params: { id: String(invisible?.id) } })).status).toBe(404)
  })

  test('sees only its own records in a run that it shares', async () => {
    const { client, agent } = await aPayer()
    const tokenClient = clientOf(await redeemDelegation(client, await aDelegation(client, agent.id)))
    const another = clientOf(await redeemDelegation(client, await aDelegation(client, agent.id)))
    const run = await bodyOf(client.runs.create({ body: { agentId: agent.id, name: 'Shared' } }))
    const declare = (by: typeof client) => anIntent(by, agent.id, { amountEuros: 5, runId: run.id })
    const mine = await declare(tokenClient)
    await declare(another)
    await declare(client)
    const params = { id: run.id }
    const entries = (await bodyOf(tokenClient.runs.timeline({ params }))).data
    expect(entries.map(({ event, resourceId }) => [event, resourceId])).toEqual([
      ['intent.created', mine.id],
      ['intent.approved', mine.id],
    ])
    expect((await bodyOf(client.runs.timeline({ params }))).data.length).toBeGreaterThan(entries.length)
    await bodyOf(client.intents.cancel({ params: { id: mine.id } }))
    expect((await bodyOf(tokenClient.runs.timeline({ params }))).data.at(-1)?.event).toBe('intent.cancelled')
  })
})
