import './credentials/issuing.ts'
import { describe, expect, test } from '@jest/globals'
import type { EncryptedDisclosure, ProcessorFailure } from '../../src/ports/card-processor.ts'
import { aKeyPair } from '../support/cards/encryption-keys.ts'
import {
  aCardOf,
  anAgentClient,
  aShopper,
  cardDataOf,
  headerOf,
  issueCredential,
  jwkOf,
  lastAsk,
  opened,
  processorWith,
  type Shopper,
} from '../support/cards/reveal.ts'
import { sandboxWith } from '../support/cards/sandbox.ts'
import {
  aDelegation,
  anAgent,
  anIntent,
  bodyOf,
  redeemDelegation,
  type TestClient,
} from '../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../support/harness.ts'
import { advance } from '../support/sandbox.ts'
import { traceOf } from '../support/trace.ts'

/** Replaces the processor's answer; undefined = it gives the data. */
let failure: ProcessorFailure | undefined
const sandbox = sandboxWith(ENCRYPTION_KEY)
const service = await startTestService({
  outside: processorWith({
    disclose: async (...asked): Promise<EncryptedDisclosure | ProcessorFailure> =>
      failure ?? sandbox.disclose(...asked),
  }),
})

const redeem = (client: TestClient, id: string, reader: object, more: object = {}) =>
  client.credentials.redeem({ params: { id }, body: reader, ...more })

const aCredential = ({ client, intent }: Shopper) => bodyOf(issueCredential(client, intent.id))

const read = (client: TestClient, id: string) => bodyOf(client.credentials.get({ params: { id } }))

describe('a credential', () => {
  test('is redeemed once for the data of the card, then 410', async () => {
    const shopper = await aShopper(service)
    const { agentClient, card, intent, pair, filler } = shopper
    const { id } = await aCredential(shopper)
    const answer = await redeem(agentClient, id, { fillerKeyId: filler.id })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ id, status: 'redeemed', keyThumbprint: filler.thumbprint })
    expect(await opened(answer.body.jwe, pair)).toEqual(cardDataOf(card.processorCardId))
    expect(headerOf(answer.body.jwe)).toMatchObject({ intentId: intent.id, kid: filler.thumbprint })
    expect(await traceOf(service, answer)).toMatchObject({
      events: ['card.access_granted', 'credential.redeemed'],
    })
    expect(await lastAsk(agentClient)).toMatchObject({
      id: answer.body.accessEventId,
      way: 'credential',
      sourceId: id,
      outcome: 'disclosed',
    })
    const again = await redeem(agentClient, id, { fillerKeyId: filler.id })
    expect(again).toMatchObject({ status: 410, code: 'credential_redeemed' })
    expect(await lastAsk(agentClient)).toMatchObject({ decision: 'denied', reasons: [{ code: again.code }] })
  })

  test('is redeemed by one of twenty at once', async () => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    const attempts = Array.from({ length: 20 }, () =>
      redeem(shopper.client, id, { publicKeyJwk: jwkOf(shopper.pair) }),
    )
    const answers = await Promise.all(attempts)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(410)])
    const { data } = await bodyOf(shopper.client.accessEvents.list({ query: { decision: 'granted' } }))
    expect(data).toHaveLength(1)
  })

  test('has no data in a replay', async () => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    const ask = () =>
      redeem(shopper.client, id, { fillerKeyId: shopper.filler.id }, { idempotencyKey: 'redeem-1' })
    const [first, again] = [await bodyOf(ask()), await bodyOf(ask())]
    expect(first.jwe).toMatch(/^ey/)
    expect(again).toEqual({ ...first, jwe: null })
  })

  test('opens to no key that the agent made, and stays good for the registered one', async () => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    const own = jwkOf(await aKeyPair())
    expect(await redeem(shopper.agentClient, id, { publicKeyJwk: own })).toMatchObject({
      status: 403,
      code: 'filler_key_required',
    })
    expect((await redeem(shopper.agentClient, id, { publicKeyJwk: jwkOf(shopper.pair) })).status).toBe(200)
  })

  test.each<[string, string, (shopper: Shopper) => Promise<unknown>]>([
    [
      'the intent is cancelled',
      'intent_not_approved',
      ({ client, intent }) => bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} })),
    ],
    [
      'the card is frozen',
      'card_not_active',
      ({ client, card }) => bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} })),
    ],
    [
      'the agent is frozen',
      'agent_not_active',
      ({ client, agent }) => bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} })),
    ],
  ])('opens nothing once %s: %s', async (_, code, change) => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    await change(shopper)
    expect(await redeem(shopper.client, id, { fillerKeyId: shopper.filler.id })).toMatchObject({
      status: 400,
      code,
    })
    expect((await read(shopper.client, id)).status).toBe('issued')
  })

  test('is revoked by the agent, then 410', async () => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    const answer = await shopper.agentClient.credentials.revoke({ params: { id }, body: {} })
    expect(answer).toMatchObject({ status: 200, body: { status: 'revoked' } })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['credential.revoked'] })
    expect(await redeem(shopper.client, id, { fillerKeyId: shopper.filler.id })).toMatchObject({
      status: 410,
      code: 'credential_revoked',
    })
    expect(await shopper.client.credentials.revoke({ params: { id }, body: {} })).toMatchObject({
      status: 400,
      code: 'credential_over',
    })
  })

  test('expires by the owner’s clock, then 410', async () => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    await advance(shopper.client, { seconds: 61 })
    expect((await read(shopper.client, id)).status).toBe('expired')
    expect(await redeem(shopper.client, id, { fillerKeyId: shopper.filler.id })).toMatchObject({
      status: 410,
      code: 'credential_expired',
    })
    const [event] = (await bodyOf(shopper.client.events.list({ query: { event: 'credential.expired' } })))
      .data
    expect(event?.data).toMatchObject({ credentialId: id, status: 'expired' })
  })

  test('can be redeemed again where the processor gave nothing', async () => {
    const shopper = await aShopper(service)
    const { client, card, pair, filler } = shopper
    const { id } = await aCredential(shopper)
    failure = { failure: 'late' }
    const refusal = await redeem(client, id, { fillerKeyId: filler.id })
    expect(refusal).toMatchObject({ status: 504, code: 'processor_silent' })
    expect((await traceOf(service, refusal))?.events).toContain('credential.reopened')
    expect(await read(client, id)).toMatchObject({ status: 'issued', redeemedAt: null, accessEventId: null })
    failure = undefined
    const { jwe } = await bodyOf(redeem(client, id, { fillerKeyId: filler.id }))
    expect(await opened(jwe, pair)).toEqual(cardDataOf(card.processorCardId))
  })

  test('a credential of a delegation’s token is for its own intents, and visible only to it', async () => {
    const shopper = await aShopper(service)
    const { client, agent, agentClient, intent, pair, filler } = shopper
    const holders = await Promise.all(
      [1, 2].map(async () => {
        const { token } = await redeemDelegation(service.client(), await aDelegation(client, agent.id))
        return service.client(String(token))
      }),
    )
    const [holder, other] = holders as [TestClient, TestClient]
    const own = await anIntent(holder, agent.id, { merchant: 'shop.example.com', amountEuros: 5 })
    expect(await issueCredential(holder, intent.id)).toMatchObject({ status: 404, code: 'intent_not_found' })
    await aCardOf(service, client, agent.id, { usage: 'single', intentId: own.id })
    const { id } = await bodyOf(issueCredential(holder, own.id))
    expect(await redeem(other, id, { fillerKeyId: filler.id })).toMatchObject({ status: 404 })
    expect((await bodyOf(other.credentials.list({ query: {} }))).data).toEqual([])
    const { jwe, accessEventId } = await bodyOf(redeem(holder, id, { fillerKeyId: filler.id }))
    expect(await opened(jwe, pair)).toHaveProperty('number')
    const params = { id: String(accessEventId) }
    const statuses = [holder, other, agentClient].map(
      async one => (await one.accessEvents.get({ params })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 404, 200])
  })

  test('is hidden from other owners and agents', async () => {
    const shopper = await aShopper(service)
    const { id } = await aCredential(shopper)
    const stranger = await aShopper(service)
    const colleague = await anAgentClient(service, shopper.client, (await anAgent(shopper.client)).id)
    for (const [client, key] of [
      [stranger.client, stranger.filler],
      [colleague, shopper.filler],
    ] as const) {
      expect((await client.credentials.get({ params: { id } })).status).toBe(404)
      expect((await client.credentials.revoke({ params: { id }, body: {} })).status).toBe(404)
      expect((await redeem(client, id, { fillerKeyId: key.id })).status).toBe(404)
    }
    expect((await read(shopper.client, id)).status).toBe('issued')
  })
})
