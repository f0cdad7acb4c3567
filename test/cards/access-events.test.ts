import './access-events/denied-requests.ts'
import './access-events/processor-failures.ts'
import { describe, expect, test } from '@jest/globals'
import { tokenScopes } from '../../src/kernel/contract/scopes.ts'
import { aKeyPair, kindsOfKeys } from '../support/cards/encryption-keys.ts'
import {
  anAgentClient,
  aShopper,
  cardDataOf,
  headerOf,
  jwkOf,
  lastAsk,
  opened,
  processorWith,
} from '../support/cards/reveal.ts'
import { anAgent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf } from '../support/trace.ts'

const PURPOSE = 'Fill the form'
const expiresAt = new Date('2026-11-21T10:00:00.000Z')
const service = await startTestService({
  outside: processorWith({ ephemeralKey: async () => ({ secret: 'ephkey_of_the_test', expiresAt }) }),
})

describe('the data of a card', () => {
  test.each(kindsOfKeys)(
    'card data is decrypted by the %s key of the filler, and names its intent',
    async kind => {
      const { client, card, intent } = await aShopper(service)
      const pair = await aKeyPair(kind)
      const body = { intentId: intent.id, purpose: PURPOSE, publicKeyJwk: jwkOf(pair) }
      const answer = await client.accessEvents.access({ params: { id: card.id }, body })
      expect(answer.status).toBe(200)
      expect(await opened(answer.body.jwe, pair)).toEqual(cardDataOf(card.processorCardId))
      expect(headerOf(answer.body.jwe)).toMatchObject({
        alg: pair.key.alg,
        enc: 'A256GCM',
        kid: pair.key.thumbprint,
        intentId: intent.id,
      })
      expect(answer.body).toMatchObject({
        cardId: card.id,
        keyThumbprint: pair.key.thumbprint,
        ephemeralKey: null,
      })
      expect(await traceOf(service, answer)).toMatchObject({ events: ['card.access_granted'] })
    },
  )

  test('goes to a registered key that an agent names by id or as a JWK, never to one that it made', async () => {
    const { agentClient, card, intent, pair, filler } = await aShopper(service)
    const params = { id: card.id }
    const asked = { intentId: intent.id, purpose: PURPOSE }
    for (const reader of [{ fillerKeyId: filler.id }, { publicKeyJwk: jwkOf(pair) }]) {
      const { jwe } = await bodyOf(agentClient.accessEvents.access({ params, body: { ...asked, ...reader } }))
      expect(await opened(jwe, pair)).toEqual(cardDataOf(card.processorCardId))
    }
    const own = await aKeyPair()
    const answer = await agentClient.accessEvents.access({
      params,
      body: { ...asked, publicKeyJwk: jwkOf(own) },
    })
    expect([answer.status, answer.code]).toEqual([403, 'filler_key_required'])
    expect(await lastAsk(agentClient)).toMatchObject({
      decision: 'denied',
      reasons: [{ code: 'filler_key_required' }],
      keyThumbprint: own.key.thumbprint,
    })
  })

  test('goes to no key that the owner has deleted since', async () => {
    const { client, agentClient, card, intent, pair, filler } = await aShopper(service)
    await client.fillerKeys.delete({ params: { id: filler.id } })
    for (const [reader, code] of [
      [{ fillerKeyId: filler.id }, 'filler_key_not_found'],
      [{ publicKeyJwk: jwkOf(pair) }, 'filler_key_required'],
    ] as const) {
      const body = { intentId: intent.id, purpose: PURPOSE, ...reader }
      expect(await agentClient.accessEvents.access({ params: { id: card.id }, body })).toMatchObject({ code })
      expect(await lastAsk(agentClient)).toMatchObject({ decision: 'denied', reasons: [{ code }] })
    }
  })

  test('a replay has no card data, and does not call the processor', async () => {
    const { client, card, intent, pair } = await aShopper(service)
    const body = { intentId: intent.id, purpose: PURPOSE, publicKeyJwk: jwkOf(pair) }
    const ask = () =>
      client.accessEvents.access({ params: { id: card.id }, body, idempotencyKey: 'reveal-1' })
    const [first, again] = [await ask(), await ask()]
    expect(first.body.jwe).toMatch(/^ey/)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual({ ...first.body, jwe: null })
    expect((await bodyOf(client.accessEvents.list({ query: {} }))).data).toHaveLength(1)
    const [stored] = await service.sql<{ text: string }>(
      `select string_agg(k::text, '') as text from idempotency_keys k where key = 'reveal-1'`,
    )
    expect(stored?.text).not.toContain(String(first.body.jwe).slice(0, 40))
  })

  test('is shown by the processor’s own elements for a nonce of the owner, not of an agent', async () => {
    const { client, agentClient, card, intent } = await aShopper(service)
    const params = { id: card.id }
    const body = { intentId: intent.id, purpose: PURPOSE, nonce: 'ephkn_1' }
    expect(await bodyOf(client.accessEvents.access({ params, body }))).toMatchObject({
      ephemeralKey: 'ephkey_of_the_test',
      expiresAt: expiresAt.toISOString(),
      jwe: null,
      keyThumbprint: null,
    })
    const { status, code } = await agentClient.accessEvents.access({ params, body })
    expect([status, code]).toEqual([403, 'nonce_of_agent'])
  })

  test('a request for card data names exactly one reader', async () => {
    const { client, card, intent, filler } = await aShopper(service)
    const asked = { intentId: intent.id, purpose: PURPOSE }
    for (const readers of [{}, { fillerKeyId: filler.id, nonce: 'ephkn_1' }]) {
      const { status, error } = await client.accessEvents.access({
        params: { id: card.id },
        body: { ...asked, ...readers },
      })
      expect([status, error]).toEqual([400, expect.stringMatching(/^publicKeyJwk: send exactly one/)])
    }
  })

  test('needs the scope cards:reveal, which an agent’s token has only if it was requested', async () => {
    const { client, agent, card, intent, filler } = await aShopper(service)
    const usual = await anAgentClient(service, client, agent.id, tokenScopes.given)
    const body = { intentId: intent.id, purpose: PURPOSE, fillerKeyId: filler.id }
    const { status, error } = await usual.accessEvents.access({ params: { id: card.id }, body })
    expect([status, error]).toEqual([403, expect.stringMatching('cards:reveal')])
  })
})

describe('an access event', () => {
  test('an access event shows caller, card, intent, key, origin and outcome', async () => {
    const { client, agentClient, agent, card, intent, filler } = await aShopper(service)
    const body = { intentId: intent.id, purpose: PURPOSE, fillerKeyId: filler.id }
    const answer = await agentClient.accessEvents.access({ params: { id: card.id }, body })
    const id = String(answer.body.accessEventId)
    expect(await bodyOf(client.accessEvents.get({ params: { id } }))).toMatchObject({
      agentId: agent.id,
      actor: { type: 'agent', id: expect.stringMatching(/^token_/) },
      cardId: card.id,
      intentId: intent.id,
      purpose: PURPOSE,
      way: 'access',
      decision: 'granted',
      reasons: [],
      outcome: 'disclosed',
      failure: null,
      keyThumbprint: filler.thumbprint,
      address: '127.0.0.1',
      requestId: answer.headers.get('x-request-id'),
    })
  })

  test('the database refuses to change or delete an access event', async () => {
    const { client, card, intent, filler } = await aShopper(service)
    const body = { intentId: intent.id, purpose: PURPOSE, fillerKeyId: filler.id }
    const { accessEventId } = await bodyOf(client.accessEvents.access({ params: { id: card.id }, body }))
    for (const statement of [
      `update access_events set decision = 'denied' where id = $1`,
      'delete from access_events where id = $1',
      `update access_outcomes set outcome = 'failed' where id = $1`,
      'delete from access_outcomes where id = $1',
    ])
      await expect(service.sql(statement, [accessEventId])).rejects.toThrow(/append-only/)
  })

  test('access events are filtered by card, agent, intent, way and decision, and hidden from other owners', async () => {
    const { client, agentClient, agent, card, intent, filler } = await aShopper(service)
    const body = { intentId: intent.id, purpose: PURPOSE, fillerKeyId: filler.id }
    const { accessEventId } = await bodyOf(client.accessEvents.access({ params: { id: card.id }, body }))
    const found = async (query: object) =>
      (await bodyOf(agentClient.accessEvents.list({ query }))).data.map(({ id }) => id)
    const all = {
      cardId: card.id,
      agentId: agent.id,
      intentId: intent.id,
      way: 'access',
      decision: 'granted',
    }
    expect(await found(all)).toEqual([accessEventId])
    for (const other of [
      { cardId: 'card_x' },
      { intentId: 'intent_x' },
      { way: 'session' },
      { decision: 'denied' },
    ])
      expect(await found({ ...all, ...other })).toEqual([])
    const stranger = (await service.owner()).client
    const colleague = await anAgentClient(service, client, (await anAgent(client)).id)
    for (const other of [stranger, colleague])
      expect((await other.accessEvents.get({ params: { id: accessEventId } })).status).toBe(404)
  })
})
