import './webhooks/webhook-subscriptions.ts'
import './webhooks/changed-webhooks.ts'
import './webhooks/due-webhooks.ts'
import { describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../src/derive/client.ts'
import { deliveriesOf, untilDelivery } from '../support/delivery/deliveries.ts'
import { type ReceivedRequest, respondWith, startReceiver } from '../support/delivery/receiver.ts'
import { aLiveClient, anAgent, aWebhook, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import './webhooks/webhook-rules.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
let paths = 0
const aPath = (): string => `/${++paths}`

const arrived = async (path: string, count: number): Promise<ReceivedRequest[]> => {
  await until(`${count} at ${path}`, () => receiver.at(path).length >= count)
  return receiver.at(path)
}

const subscribe = (client: TestClient, path: string, events = ['agent.created']) =>
  aWebhook(client, { url: receiver.url + path, events })

describe('a webhook', () => {
  test('has the headers, the body and the signature of the contract', async () => {
    const { client } = await service.owner()
    const path = aPath()
    const { id, secret } = await subscribe(client, path)
    const answer = await client.agents.create({ body: { name: 'Reader' } })
    const [received] = await arrived(path, 1)
    const { headers = {}, body = '' } = received ?? {}
    const sent = await untilDelivery(client, id, one => one.status === 'delivered')
    expect(verifyWebhook(headers, body, String(secret))).toEqual({
      event: 'agent.created',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.objectContaining({ agentId: answer.body.id }),
      eventId: sent.eventId,
      id: sent.id,
      deliveryId: expect.stringMatching(new RegExp(`^${sent.id}-1\\.\\d+$`)),
    })
    expect(Object.keys(JSON.parse(body))).toEqual(['event', 'createdAt', 'data'])
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'agent.created',
      'x-service-timestamp': expect.stringMatching(/^\d{10}$/),
      'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'x-request-id': answer.headers.get('x-request-id'),
    })
    expect(headers).not.toHaveProperty('x-service-signature-next')
    const event = await bodyOf(client.events.get({ params: { id: sent.eventId } }))
    expect(JSON.parse(body)).toEqual({ event: event.event, createdAt: event.createdAt, data: event.data })
    expect(sent).toMatchObject({
      explanation: expect.stringMatching(/^Delivered after one attempt, the last in \d+ ms\.$/),
      attempts: [
        { deliveryId: headers['x-service-delivery-id'], status: 204, error: null, responseStart: null },
      ],
    })
    const byDeliveryId = client.webhooks.delivery({
      params: { id: String(headers['x-service-delivery-id']) },
    })
    expect((await bodyOf(byDeliveryId)).id).toBe(sent.id)
  })

  test('is sent to the subscriptions to its event in its mode, and to no other', async () => {
    const owner = await service.owner()
    const { client } = owner
    const live = await aLiveClient(service, owner)
    const stranger = await service.owner()
    const [all, one, other, livePath, strangerPath] = [aPath(), aPath(), aPath(), aPath(), aPath()]
    await subscribe(client, all, ['*'])
    await subscribe(client, one, ['agent.frozen', 'intent.matched'])
    await subscribe(client, other, ['policy.created'])
    await subscribe(live, livePath, ['*'])
    await subscribe(stranger.client, strangerPath, ['*'])
    const agent = await anAgent(client)
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: { reason: 'Unusual' } }))
    await arrived(one, 1)
    await until('all hears of it', () => receiver.at(all).some(({ event }) => event === 'agent.frozen'))
    expect(receiver.at(one).map(({ event }) => event)).toEqual(['agent.frozen'])
    const aboutAgent = [...receiver.at(livePath), ...receiver.at(strangerPath), ...receiver.at(other)].filter(
      ({ body }) => body.includes(agent.id),
    )
    expect(aboutAgent).toEqual([])
  })

  test('of the kind ping is sent to the new subscription only, whichever events it names', async () => {
    const { client } = await service.owner()
    const [first, second] = [aPath(), aPath()]
    await subscribe(client, first, ['*'])
    const { id } = await aWebhook(client, {
      url: receiver.url + second,
      events: ['agent.frozen'],
      ping: true,
    })
    const [ping] = await arrived(second, 1)
    expect(JSON.parse(ping?.body ?? '')).toMatchObject({ event: 'webhook.ping', data: { webhookId: id } })
    await arrived(first, 2)
    expect(receiver.at(first).map(({ event }) => event)).not.toContain('webhook.ping')
  })
})

describe('a library of Standard Webhooks', () => {
  test('verifies a webhook with the secret made for it, and with no other', async () => {
    const { client } = await service.owner()
    const path = aPath()
    receiver.treat(path, respondWith(503))
    const { id, secret, standardSecret } = await subscribe(client, path)
    expect(standardSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await bodyOf(client.webhooks.get({ params: { id } }))).not.toHaveProperty('standardSecret')
    await anAgent(client)
    const failed = await untilDelivery(client, id, one => one.attempts.length === 1)
    await client.webhooks.replay({ params: { id: failed.id } })
    const [first, replayed] = (await arrived(path, 2)) as [ReceivedRequest, ReceivedRequest]
    const { headers, body } = first
    const library = new Webhook(String(standardSecret))
    expect(library.verify(body, headers)).toEqual(JSON.parse(body))
    expect(headers['webhook-timestamp']).toBe(headers['x-service-timestamp'])
    library.verify(replayed.body, replayed.headers)
    expect([headers['webhook-id'], replayed.headers['webhook-id']]).toEqual([failed.eventId, failed.eventId])
    expect(() => library.verify(`${body} `, headers)).toThrow('No matching signature')
    expect(() => library.verify(body, { ...headers, 'webhook-id': 'event_1' })).toThrow('No matching')
    const keyedByOther = new Webhook(String(secret), { format: 'raw' })
    expect(() => keyedByOther.verify(body, headers)).toThrow('No matching signature')
  })

  test('verifies with the old secret and the new one while they are rotated, then with the new one', async () => {
    const { client } = await service.owner()
    const path = aPath()
    const { id, standardSecret: old } = await subscribe(client, path)
    const { standardSecret: next } = await bodyOf(client.webhooks.rotateSecret({ params: { id } }))
    expect(next).not.toBe(old)
    await client.webhooks.test({ params: { id } })
    await client.webhooks.activateSecret({ params: { id } })
    await client.webhooks.test({ params: { id } })
    const [during, after] = receiver.at(path) as [ReceivedRequest, ReceivedRequest]
    for (const secret of [old, next]) new Webhook(String(secret)).verify(during.body, during.headers)
    new Webhook(String(next)).verify(after.body, after.headers)
    expect(() => new Webhook(String(old)).verify(after.body, after.headers)).toThrow('No matching signature')
  })
})

describe('a test webhook', () => {
  test('sends an example of any event and returns the receiver’s answer', async () => {
    const { client } = await service.owner()
    const path = aPath()
    receiver.treat(path, respondWith(202, 'Thanks'))
    const { id, secret } = await subscribe(client, path)
    const result = await bodyOf(
      client.webhooks.test({ params: { id }, body: { event: 'transaction.completed' } }),
    )
    expect(result).toMatchObject({
      delivered: true,
      event: 'transaction.completed',
      attempt: { status: 202, responseStart: 'Thanks', error: null },
    })
    const [received] = receiver.at(path)
    expect(received?.body).toBe(result.body)
    const { data } = verifyWebhook(received?.headers ?? {}, result.body, String(secret))
    expect(Object.keys(data)).toEqual([
      'transactionId',
      'agentId',
      'intentId',
      'amountEuros',
      'merchant',
      'status',
    ])
    expect(await deliveriesOf(client, id)).toEqual([])
  })

  test('returns why the receiver did not accept it', async () => {
    const { client } = await service.owner()
    const path = aPath()
    receiver.treat(path, respondWith(401, 'Who are you?'))
    const { id } = await subscribe(client, path)
    expect(await bodyOf(client.webhooks.test({ params: { id } }))).toMatchObject({
      delivered: false,
      event: 'webhook.ping',
      attempt: { status: 401, error: expect.stringContaining('answered 401'), responseStart: 'Who are you?' },
    })
    const unknown = await client.webhooks.test({ params: { id }, body: { event: 'agent.frozn' } })
    expect(unknown.error).toMatch(/^event: .*agent\.frozen/)
  })
})

describe('a new webhook secret', () => {
  test('works beside the old one until it is activated, so that no receiver breaks', async () => {
    const { client } = await service.owner()
    const path = aPath()
    const { id, secret: old, hint } = await subscribe(client, path)
    const send = async () => {
      const before = receiver.at(path).length
      await anAgent(client)
      return (await arrived(path, before + 1)).at(-1) as ReceivedRequest
    }
    const { secret: next, nextSecret } = await bodyOf(client.webhooks.rotateSecret({ params: { id } }))
    expect(nextSecret?.hint).toBe(next?.slice(-4))
    const during = await send()
    for (const secret of [old, next]) verifyWebhook(during.headers, during.body, String(secret))
    expect((await bodyOf(client.webhooks.get({ params: { id } }))).hint).toBe(hint)

    const active = await bodyOf(client.webhooks.activateSecret({ params: { id } }))
    expect(active).toMatchObject({ hint: next?.slice(-4), nextSecret: null })
    const after = await send()
    verifyWebhook(after.headers, after.body, String(next))
    expect(() => verifyWebhook(after.headers, after.body, String(old))).toThrow(/signature/)
    expect((await client.webhooks.activateSecret({ params: { id } })).code).toBe('no_next_secret')
  })

  test('is the only one once the overlap has ended', async () => {
    const { client } = await service.owner()
    const path = aPath()
    const { id } = await subscribe(client, path)
    const { secret } = await bodyOf(
      client.webhooks.rotateSecret({ params: { id }, body: { overlapHours: 1 } }),
    )
    await service.sql(`update webhooks set next_from = now() where id = $1`, [id])
    expect((await bodyOf(client.webhooks.get({ params: { id } }))).nextSecret).toBeNull()
    await anAgent(client)
    const [received] = await arrived(path, 1)
    verifyWebhook(received?.headers ?? {}, received?.body ?? '', String(secret))
    expect(received?.headers).not.toHaveProperty('x-service-signature-next')
    const third = await bodyOf(client.webhooks.rotateSecret({ params: { id }, body: { overlapHours: 0 } }))
    expect(third).toMatchObject({ hint: third.secret?.slice(-4), nextSecret: null })
  })
})
