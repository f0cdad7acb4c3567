import './checkout/confirm.ts'
import './checkout/execute.ts'
import './checkout/killed-between-owners.ts'
import './checkout/lost-answers.ts'
import './checkout/given-back.ts'
import './checkout/paid-requests.ts'
import './checkout/requests-as-payees.ts'
import { describe, expect, test } from '@jest/globals'
import type { EncryptedDisclosure, ProcessorFailure } from '../../src/ports/card-processor.ts'
import { aKeyPair } from '../support/cards/encryption-keys.ts'
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
import { sandboxWith } from '../support/cards/sandbox.ts'
import { anAgent, anIntent, bodyOf, type TestClient } from '../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../support/harness.ts'
import { advance } from '../support/sandbox.ts'
import { tablesWith, traceOf } from '../support/trace.ts'

/** Replaces the processor's answer; undefined = it gives the data. */
let failure: ProcessorFailure | undefined
const sandbox = sandboxWith(ENCRYPTION_KEY)
const service = await startTestService({
  outside: processorWith({
    disclose: async (...asked): Promise<EncryptedDisclosure | ProcessorFailure> =>
      failure ?? sandbox.disclose(...asked),
  }),
})

const SHOP = 'https://shop.example.com/checkout?step=2'

const begin = (client: TestClient, intentId: string, merchantUrl = SHOP) =>
  client.checkout.createSession({ body: { intentId, merchantUrl } })

const redeem = (client: TestClient, token: string | null, reader: object, more: object = {}) =>
  client.checkout.credential({ body: { token: String(token), ...reader }, ...more })

describe('a checkout session', () => {
  test('a checkout session shows its token once, for this intent at this shop, for 15 minutes', async () => {
    const { agentClient, agent, card, intent } = await aShopper(service)
    const answer = await begin(agentClient, intent.id)
    expect(answer.status).toBe(201)
    const { token, ...session } = answer.body
    expect(token).toMatch(/^cst_\w{43}$/)
    expect(session).toMatchObject({
      agentId: agent.id,
      intentId: intent.id,
      cardId: card.id,
      merchantHost: 'shop.example.com',
      status: 'open',
      hint: String(token).slice(-4),
    })
    expect(Date.parse(session.expiresAt) - Date.parse(session.createdAt)).toBe(15 * 60_000)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['checkout_session.created'] })
    expect(await bodyOf(agentClient.checkout.session({ params: { id: session.id } }))).toEqual(session)
    expect(await tablesWith(service, String(token))).toEqual([])
  })

  test.each([
    ['http://shop.example.com/checkout'],
    ['https://127.0.0.1/checkout'],
    ['https://ada:secret@shop.example.com/'],
    ['shop.example.com'],
    ['javascript:alert(1)'],
    [''],
  ])('is not bound to %s', async merchantUrl => {
    const { client, intent } = await aShopper(service)
    const { status, error } = await begin(client, intent.id, merchantUrl)
    expect([status, error]).toEqual([400, expect.stringMatching(/^merchantUrl: an https address of a shop/)])
  })

  test.each([
    ['shop.example.com', 'https://shop.example.com.evil.example/', 400],
    ['shop.example.com', 'https://evil.example/shop.example.com', 400],
    ['shop.example.com', 'https://example.com/', 400],
    ['shop.example.com', 'https://SHOP.example.com:8443/pay', 201],
    ['https://shop.example.com/books', 'https://shop.example.com/pay', 201],
    ['Bookshop', 'https://anything.example.com/', 201],
  ])('for an intent of %s at %s is a %s', async (merchant, url, status) => {
    const { client, intent } = await aShopper(service, merchant)
    const answer = await begin(client, intent.id, url)
    expect(answer.status).toBe(status)
    if (status === 201) return
    expect(answer.code).toBe('merchant_mismatch')
    expect(await lastAsk(client)).toMatchObject({ way: 'session', reasons: [{ code: 'merchant_mismatch' }] })
  })

  test('needs an approved intent that is not paid', async () => {
    const { client, intent } = await aShopper(service)
    await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
    expect(await begin(client, intent.id)).toMatchObject({ status: 400, code: 'intent_not_approved' })
    expect(await begin(client, 'intent_x')).toMatchObject({ status: 404, code: 'intent_not_found' })
  })

  test('is redeemed for a JWE that is bound to the intent and the shop, once, then 410', async () => {
    const { agentClient, card, intent, pair, filler } = await aShopper(service)
    const { token, id } = await bodyOf(begin(agentClient, intent.id))
    const answer = await redeem(agentClient, token, { fillerKeyId: filler.id })
    expect(answer).toMatchObject({ status: 200, body: { id, status: 'redeemed', cardId: card.id } })
    expect(await opened(answer.body.jwe, pair)).toEqual(cardDataOf(card.processorCardId))
    expect(headerOf(answer.body.jwe)).toMatchObject({
      intentId: intent.id,
      merchantHost: 'shop.example.com',
      kid: filler.thumbprint,
    })
    expect(await traceOf(service, answer)).toMatchObject({
      events: ['card.access_granted', 'checkout_session.redeemed'],
    })
    expect(await lastAsk(agentClient)).toMatchObject({
      id: answer.body.accessEventId,
      way: 'session',
      sourceId: id,
      merchantHost: 'shop.example.com',
      outcome: 'disclosed',
    })
    const again = await redeem(agentClient, token, { fillerKeyId: filler.id })
    expect(again).toMatchObject({ status: 410, code: 'session_redeemed' })
    expect(await lastAsk(agentClient)).toMatchObject({ decision: 'denied', reasons: [{ code: again.code }] })
  })

  test('is not bound to another shop by changing the header of its JWE', async () => {
    const { client, intent, pair } = await aShopper(service)
    const { token } = await bodyOf(begin(client, intent.id))
    const { jwe } = await bodyOf(redeem(client, token, { publicKeyJwk: jwkOf(pair) }))
    const [, ...rest] = String(jwe).split('.')
    const forged = { ...headerOf(jwe), merchantHost: 'evil.example.com' }
    const header = Buffer.from(JSON.stringify(forged)).toString('base64url')
    await expect(opened([header, ...rest].join('.'), pair)).rejects.toThrow()
  })

  test('is redeemed by one of twenty at once', async () => {
    const { client, intent, filler } = await aShopper(service)
    const { token } = await bodyOf(begin(client, intent.id))
    const attempts = Array.from({ length: 20 }, () => redeem(client, token, { fillerKeyId: filler.id }))
    const statuses = (await Promise.all(attempts)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, ...Array(19).fill(410)])
  })

  test('returns neither token nor card data in a replay', async () => {
    const { client, intent, filler } = await aShopper(service)
    const body = { intentId: intent.id, merchantUrl: SHOP }
    const make = () => bodyOf(client.checkout.createSession({ body, idempotencyKey: 'session-1' }))
    const [session, copy] = [await make(), await make()]
    expect(copy).toEqual({ ...session, token: null })
    const ask = () =>
      bodyOf(redeem(client, session.token, { fillerKeyId: filler.id }, { idempotencyKey: 'redeem-1' }))
    const [first, again] = [await ask(), await ask()]
    expect(first.jwe).toMatch(/^ey/)
    expect(again).toEqual({ ...first, jwe: null })
  })

  test('opens to no key that the agent made, and stays good for the registered one', async () => {
    const { agentClient, intent, pair } = await aShopper(service)
    const { token } = await bodyOf(begin(agentClient, intent.id))
    const own = jwkOf(await aKeyPair())
    const refusal = await redeem(agentClient, token, { publicKeyJwk: own })
    expect(refusal).toMatchObject({ status: 403, code: 'filler_key_required' })
    expect((await redeem(agentClient, token, { publicKeyJwk: jwkOf(pair) })).status).toBe(200)
  })

  test('expires after 15 minutes of the owner’s clock', async () => {
    const { client, intent, filler } = await aShopper(service)
    const { token, id } = await bodyOf(begin(client, intent.id))
    await advance(client, { minutes: 15 })
    expect((await bodyOf(client.checkout.session({ params: { id } }))).status).toBe('expired')
    const refusal = await redeem(client, token, { fillerKeyId: filler.id })
    expect(refusal).toMatchObject({ status: 410, code: 'session_expired' })
    const { data } = await bodyOf(client.events.list({ query: { event: 'checkout_session.expired' } }))
    expect(data[0]?.data).toMatchObject({ checkoutSessionId: id })
  })

  test('can be redeemed again where the processor gave nothing', async () => {
    const { client, card, intent, pair, filler } = await aShopper(service)
    const { token, id } = await bodyOf(begin(client, intent.id))
    failure = { failure: 'unusable' }
    const refusal = await redeem(client, token, { fillerKeyId: filler.id })
    expect(refusal).toMatchObject({ status: 502, code: 'processor_unusable' })
    expect((await traceOf(service, refusal))?.events).toContain('checkout_session.reopened')
    expect((await bodyOf(client.checkout.session({ params: { id } }))).status).toBe('open')
    failure = undefined
    const { jwe } = await bodyOf(redeem(client, token, { fillerKeyId: filler.id }))
    expect(await opened(jwe, pair)).toEqual(cardDataOf(card.processorCardId))
  })

  test('is hidden from other owners and agents', async () => {
    const { client, intent, filler } = await aShopper(service)
    const { token, id } = await bodyOf(begin(client, intent.id))
    const stranger = await aShopper(service)
    const colleague = await anAgentClient(service, client, (await anAgent(client)).id)
    for (const [other, key] of [
      [stranger.client, stranger.filler],
      [colleague, filler],
    ] as const) {
      expect((await other.checkout.session({ params: { id } })).status).toBe(404)
      expect(await redeem(other, token, { fillerKeyId: key.id })).toMatchObject({
        status: 404,
        code: 'session_not_found',
      })
      expect((await begin(other, intent.id)).status).toBe(404)
    }
  })

  test('refuses a body with a card number whole', async () => {
    const { client, intent, filler } = await aShopper(service)
    for (const answer of [
      await begin(client, intent.id, 'https://shop.example.com/4242424242424242'),
      await redeem(client, '4242 4242 4242 4242', { fillerKeyId: filler.id }),
      await client.checkout.execute({ body: { intentId: '4242-4242-4242-4242' } }),
    ]) {
      expect([answer.status, answer.error]).toEqual([400, expect.stringMatching('number of a card')])
      expect(answer.error).not.toContain('4242')
    }
    expect(await lastAsk(client)).toBeUndefined()
  })

  test('a checkout without a card is refused with the way to get one', async () => {
    const { client, agent, card } = await aShopper(service)
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    const intent = await anIntent(client, agent.id, { merchant: 'other.example.com' })
    const answer = await begin(client, intent.id, 'https://other.example.com/')
    expect([answer.code, answer.error]).toEqual(['card_required', expect.stringMatching('POST /cards')])
  })
})
