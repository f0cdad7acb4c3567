import './agent-credentials/charges.ts'
import './agent-credentials/paying.ts'
import './agent-credentials/states.ts'
import { describe, expect, test } from '@jest/globals'
import { sandboxTokenById } from '../../src/adapters/card-processor/sandbox-numbers.ts'
import { asked, issue } from '../support/cards/agent-credentials.ts'
import { aKeyPair } from '../support/cards/encryption-keys.ts'
import {
  aCardOf,
  anAgentClient,
  aShopper,
  aSpender,
  cardDataOf,
  headerOf,
  jwkOf,
  lastAsk,
  opened,
  processorWith,
} from '../support/cards/reveal.ts'
import { secretsOf } from '../support/cards/sandbox.ts'
import { aDelegation, anIntent, aToken, bodyOf, redeemDelegation } from '../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../support/harness.ts'
import { traceOf } from '../support/trace.ts'

const service = await startTestService()
const withoutTokens = await startTestService({ outside: processorWith({ networkToken: null }) })

describe('a network token', () => {
  test('is issued to the key of the filler, within its limits, without an intent', async () => {
    const shopper = await aShopper(service)
    const { agentClient, agent, card, pair, filler } = shopper
    const answer = await issue(agentClient, { ...asked(shopper), maxCharges: 3 })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      agentId: agent.id,
      cardId: card.id,
      intentId: null,
      status: 'active',
      merchantScope: ['shop.example.com'],
      amountLimitEuros: 20,
      spentEuros: 0,
      charges: 0,
      maxCharges: 3,
      keyThumbprint: filler.thumbprint,
    })
    const { numbers } = secretsOf(ENCRYPTION_KEY)
    const [row] = await service.sql<{ token: string }>(
      'select token_id as token from agent_credentials where id = $1',
      [answer.body.id],
    )
    const token = sandboxTokenById(numbers, String(row?.token))
    const { number, expMonth, expYear } = cardDataOf(card.processorCardId)
    expect(await opened(answer.body.jwe, pair)).toEqual({
      number: token?.number,
      cryptogram: token?.cryptogram,
      expMonth,
      expYear,
    })
    expect(token?.number).not.toBe(number)
    expect(answer.body.last4).toBe(token?.number.slice(-4))
    expect(headerOf(answer.body.jwe)).toMatchObject({ intentId: null, kid: filler.thumbprint })
    expect(await traceOf(service, answer)).toMatchObject({
      events: ['card.access_granted', 'agent_credential.created', 'agent_credential.issued'],
    })
    expect(await lastAsk(agentClient)).toMatchObject({
      way: 'agent_credential',
      sourceId: answer.body.id,
      outcome: 'disclosed',
    })
  })

  test('is bound to an intent that it names', async () => {
    const shopper = await aShopper(service)
    const { client, intent } = shopper
    const { jwe, intentId } = await bodyOf(issue(client, { ...asked(shopper), intentId: intent.id }))
    expect([intentId, headerOf(jwe).intentId]).toEqual([intent.id, intent.id])
    for (const [members, code] of [
      [{ amountLimitEuros: 25.01 }, 'above_intent'],
      [{ merchantScope: ['other.example.com'] }, 'merchant_mismatch'],
    ] as const)
      expect(await issue(client, { ...asked(shopper), intentId: intent.id, ...members })).toMatchObject({
        status: 400,
        code,
      })
    await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
    expect(await issue(client, { ...asked(shopper), intentId: intent.id })).toMatchObject({
      status: 400,
      code: 'intent_not_approved',
    })
  })

  test('is not in a replay', async () => {
    const shopper = await aShopper(service)
    const ask = () => bodyOf(issue(shopper.client, asked(shopper), { idempotencyKey: 'token-1' }))
    const [first, again] = [await ask(), await ask()]
    expect(first.jwe).toMatch(/^ey/)
    expect(again).toEqual({ ...first, jwe: null })
    expect((await bodyOf(shopper.client.agentCredentials.list({ query: {} }))).data).toHaveLength(1)
  })

  test('refuses a key that the agent made, and records the denial', async () => {
    const shopper = await aShopper(service)
    const { fillerKeyId: _, ...body } = asked(shopper)
    const own = { ...body, publicKeyJwk: jwkOf(await aKeyPair()) }
    expect(await issue(shopper.agentClient, own)).toMatchObject({ status: 403, code: 'filler_key_required' })
    expect(await lastAsk(shopper.client)).toMatchObject({ way: 'agent_credential', decision: 'denied' })
    expect((await bodyOf(shopper.client.agentCredentials.list({ query: {} }))).data).toEqual([])
  })

  test('is for the agent’s own active card', async () => {
    const shopper = await aShopper(service)
    const { client, agentClient, card } = shopper
    const colleague = await aSpender(client)
    const theirs = await aCardOf(service, client, colleague.id)
    const body = asked(shopper)
    expect(await issue(client, { ...body, cardId: theirs.id })).toMatchObject({ code: 'card_other_agent' })
    expect(await issue(agentClient, { ...body, cardId: theirs.id })).toMatchObject({ code: 'card_not_found' })
    const { agentId: _, ...nameless } = body
    expect(await issue(client, nameless)).toMatchObject({ status: 400, code: 'agent_required' })
    await bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} }))
    expect(await issue(client, body)).toMatchObject({ status: 400, code: 'card_not_active' })
  })

  test('needs an intent from a token with a cap of its own', async () => {
    const shopper = await aShopper(service)
    const { client, agent, intent } = shopper
    const delegation = await aDelegation(client, agent.id)
    const capped = await aToken(client, agent.id, { maxAmountEuros: 50 })
    for (const { token } of [await redeemDelegation(service.client(), delegation), capped]) {
      const holder = service.client(String(token))
      expect(await issue(holder, asked(shopper))).toMatchObject({ status: 400, code: 'intent_required' })
    }
    const holder = service.client(String(capped.token))
    expect(await issue(holder, { ...asked(shopper), intentId: intent.id })).toMatchObject({
      status: 403,
      code: 'intent_other_budget',
    })
    const own = await anIntent(holder, agent.id, { merchant: 'shop.example.com' })
    expect((await issue(holder, { ...asked(shopper), intentId: own.id })).status).toBe(201)
  })

  test('a processor without network tokens is refused with 503', async () => {
    const shopper = await aShopper(withoutTokens)
    const answer = await issue(shopper.client, asked(shopper))
    expect(answer).toMatchObject({ status: 503, code: 'network_tokens_missing' })
    expect(answer.error).toMatch(/issues no network tokens/)
  })

  test.each<[string, object]>([
    ['merchantScope', { merchantScope: [] }],
    ['merchantScope', { merchantScope: ['*'] }],
    ['amountLimitEuros', { amountLimitEuros: 0 }],
    ['amountLimitEuros', { amountLimitEuros: 1.005 }],
    ['ttlSeconds', { ttlSeconds: 29 }],
    ['maxCharges', { maxCharges: 0 }],
    ['publicKeyJwk', { publicKeyJwk: { kty: 'oct', k: 'AAAA' } }],
  ])('is refused for a wrong %s', async (member, members) => {
    const shopper = await aShopper(service)
    const { status, error } = await issue(shopper.client, { ...asked(shopper), ...members })
    expect([status, error]).toEqual([400, expect.stringMatching(new RegExp(`^${member}`))])
  })

  test('an agent credential is visible only to its agent and owner', async () => {
    const shopper = await aShopper(service)
    const { id } = await bodyOf(issue(shopper.client, asked(shopper)))
    const stranger = (await service.owner()).client
    const colleague = await anAgentClient(service, shopper.client, (await aSpender(shopper.client)).id)
    expect((await shopper.agentClient.agentCredentials.get({ params: { id } })).status).toBe(200)
    for (const other of [stranger, colleague])
      for (const verb of ['get', 'revoke', 'suspend'] as const)
        expect((await other.agentCredentials[verb]({ params: { id } })).status).toBe(404)
  })
})
