import { describe, expect, test } from '@jest/globals'
import { verifyWebhook } from '../../src/derive/client.ts'
import { deliveriesOf, delivery } from '../support/deliveries.ts'
import { aKey, aLiveClient, anAgent, aWebhook, made, type TestClient } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { answering, type Received, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const receiver = await startReceiver()
const house = await startHouse({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

let paths = 0
const aPath = (): string => `/${++paths}`

/** Waits until so many requests have come to a path. */
const arrived = async (path: string, count: number): Promise<Received[]> => {
  await until(`${count} at ${path}`, () => receiver.at(path).length >= count)
  return receiver.at(path)
}

const subscribe = (client: TestClient, path: string, events = ['agent.created']) =>
  aWebhook(client, { url: receiver.url + path, events })

describe('what is sent', () => {
  test('has the headers, the body and the signature of the contract', async () => {
    const { client } = await house.owner()
    const path = aPath()
    const { id, secret } = await subscribe(client, path)
    const answer = await client.agents.create({ body: { name: 'Reader' } })
    const [received] = await arrived(path, 1)
    const { headers = {}, body = '' } = received ?? {}
    const sent = await delivery(client, id, one => one.status === 'delivered')
    expect(verifyWebhook(headers, body, String(secret))).toEqual({
      event: 'agent.created',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.objectContaining({ agentId: answer.body.id }),
      id: sent.id,
      deliveryId: `${sent.id}-1`,
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
    const event = await made(client.events.get({ params: { id: sent.eventId } }))
    expect(JSON.parse(body)).toEqual({ event: event.event, createdAt: event.createdAt, data: event.data })
    expect(sent).toMatchObject({
      explanation: expect.stringMatching(/^Delivered after one attempt, the last in \d+ ms\.$/),
      attempts: [{ deliveryId: `${sent.id}-1`, status: 204, error: null, responseStart: null }],
    })
    const named = client.webhooks.delivery({ params: { id: String(headers['x-service-delivery-id']) } })
    expect((await made(named)).id).toBe(sent.id)
  })

  test('goes to whoever has asked for it, in this mode, and to nobody else', async () => {
    const owner = await house.owner()
    const { client } = owner
    const live = await aLiveClient(house, owner)
    const stranger = await house.owner()
    const [all, one, other, lives, strangers] = [aPath(), aPath(), aPath(), aPath(), aPath()]
    await subscribe(client, all, ['*'])
    await subscribe(client, one, ['agent.frozen', 'intent.matched'])
    await subscribe(client, other, ['policy.created'])
    await subscribe(live, lives, ['*'])
    await subscribe(stranger.client, strangers, ['*'])
    const agent = await anAgent(client)
    await made(client.agents.freeze({ params: { id: agent.id }, body: { reason: 'Unusual' } }))
    await arrived(one, 1)
    await until('all hears of it', () => receiver.at(all).some(({ event }) => event === 'agent.frozen'))
    expect(receiver.at(one).map(({ event }) => event)).toEqual(['agent.frozen'])
    const aboutAgent = [...receiver.at(lives), ...receiver.at(strangers), ...receiver.at(other)].filter(
      ({ body }) => body.includes(agent.id),
    )
    expect(aboutAgent).toEqual([])
  })

  test('a ping goes to the new subscription alone, whatever it asks for', async () => {
    const { client } = await house.owner()
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

describe('a subscription', () => {
  test('shows its secret once, and keeps it sealed', async () => {
    const { client } = await house.owner()
    const body = { url: 'https://example.com/hooks', events: ['agent.frozen'], description: 'Bookkeeping' }
    const create = () => client.webhooks.create({ body, idempotencyKey: 'once' })
    const { secret, ...rest } = await made(create())
    expect(secret).toMatch(/^whsec_\w{43}$/)
    expect(rest).toMatchObject({ ...body, status: 'active', statusReason: null, hint: secret?.slice(-4) })
    expect(await made(create())).toEqual({ ...rest, secret: null })
    expect(await made(client.webhooks.get({ params: { id: rest.id } }))).toEqual(rest)
    const [row] = await house.sql('select secret from webhooks where id = $1', [rest.id])
    expect(String(row?.secret)).not.toContain(String(secret).slice(6))
    const kept = await house.sql(`select body from idempotency_keys where body like '%' || $1 || '%'`, [
      secret,
    ])
    expect(kept).toEqual([])
  })

  test.each([
    ['http://10.0.0.1/', /^url: /],
    ['http://169.254.169.254/latest', /^url: /],
    ['http://metadata.google.internal/', /^url: /],
    ['http://[::ffff:10.0.0.1]/', /^url: /],
    ['ftp://example.com/', /^url: /],
    ['not a url', /^url: /],
  ])('to %s is refused, by name of the field', async (url, says) => {
    const { client } = await house.owner()
    const before = (await made(client.webhooks.list())).data.length
    const answer = await client.webhooks.create({ body: { url, events: ['*'] } })
    expect([answer.status, answer.error]).toEqual([400, expect.stringMatching(says)])
    const { id } = await aWebhook(client)
    expect((await client.webhooks.update({ params: { id }, body: { url } })).status).toBe(400)
    expect((await made(client.webhooks.get({ params: { id } }))).url).toBe(
      'https://example.com/hooks/payments',
    )
    expect((await made(client.webhooks.list())).data).toHaveLength(before + 1)
  })

  test('to an event that there is not is told which one was meant', async () => {
    const { client } = await house.owner()
    const url = 'https://example.com/hooks'
    const refused = await client.webhooks.create({ body: { url, events: ['agent.frozn', '*'] } })
    expect(refused).toMatchObject({ status: 400, code: 'unknown_event' })
    expect(refused.error).toMatch(/^events: There is no event "agent.frozn". Did you mean agent.frozen/)
    expect((await client.webhooks.create({ body: { url, events: [] } })).status).toBe(400)
    const reserved = ['intent.matched', 'mpp.credential.expired', 'dispute.created']
    expect((await aWebhook(client, { url, events: [...reserved, 'dispute.created'] })).events).toEqual(
      reserved,
    )
  })

  test('is changed, listed, deleted by its owner alone, and each change is an event', async () => {
    const [{ client }, stranger] = [await house.owner(), await house.owner()]
    const { id } = await aWebhook(client, { events: ['agent.frozen'] })
    const params = { id }
    const refusals = [
      await stranger.client.webhooks.get({ params }),
      await stranger.client.webhooks.update({ params, body: { status: 'disabled' } }),
      await stranger.client.webhooks.delete({ params }),
      await stranger.client.webhooks.test({ params }),
      await stranger.client.webhooks.rotateSecret({ params }),
      await stranger.client.webhooks.deliveries({ params }),
    ]
    for (const refusal of refusals) expect([refusal.status, refusal.code]).toEqual([404, 'webhook_not_found'])
    const disabled = await made(
      client.webhooks.update({ params, body: { status: 'disabled', events: ['*'], description: null } }),
    )
    expect(disabled).toMatchObject({
      status: 'disabled',
      statusReason: 'Disabled by its owner.',
      events: ['*'],
    })
    const list = (status: 'active' | 'disabled') => made(client.webhooks.list({ query: { status } }))
    expect([(await list('active')).data.length, (await list('disabled')).data.length]).toEqual([0, 1])
    await made(client.webhooks.delete({ params }))
    expect((await client.webhooks.get({ params })).status).toBe(404)
    expect((await made(client.webhooks.list())).data).toEqual([])
    const told = (await made(client.events.list())).data.filter(({ event }) => event.startsWith('webhook.'))
    expect(told.map(({ event }) => event)).toEqual(['webhook.deleted', 'webhook.updated', 'webhook.created'])
    expect(told[1]?.data).toMatchObject({ webhookId: id, changed: ['events', 'description', 'status'] })
  })

  test('is not to be had with a key for reading, nor by an agent', async () => {
    const { client } = await house.owner()
    const reader = house.client(String((await aKey(client, { scopes: ['webhooks:read'] })).key))
    expect((await made(reader.webhooks.list())).data).toEqual([])
    const body = { url: 'https://example.com/hooks', events: ['*'] }
    expect((await reader.webhooks.create({ body })).code).toBe('missing_scope')
  })
})

describe('a test', () => {
  test('sends an example of any event, and tells what the receiver answered', async () => {
    const { client } = await house.owner()
    const path = aPath()
    receiver.treat(path, answering(202, 'Thanks'))
    const { id, secret } = await subscribe(client, path)
    const told = await made(
      client.webhooks.test({ params: { id }, body: { event: 'transaction.completed' } }),
    )
    expect(told).toMatchObject({
      delivered: true,
      event: 'transaction.completed',
      attempt: { status: 202, responseStart: 'Thanks', error: null },
    })
    const [received] = receiver.at(path)
    expect(received?.body).toBe(told.body)
    const { data } = verifyWebhook(received?.headers ?? {}, told.body, String(secret))
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

  test('that nobody takes says why', async () => {
    const { client } = await house.owner()
    const path = aPath()
    receiver.treat(path, answering(401, 'Who are you?'))
    const { id } = await subscribe(client, path)
    expect(await made(client.webhooks.test({ params: { id } }))).toMatchObject({
      delivered: false,
      event: 'webhook.ping',
      attempt: { status: 401, error: expect.stringContaining('answered 401'), responseStart: 'Who are you?' },
    })
    const unknown = await client.webhooks.test({ params: { id }, body: { event: 'agent.frozn' } })
    expect(unknown.error).toMatch(/^event: .*agent\.frozen/)
  })
})

describe('a new secret', () => {
  test('breaks a receiver at no moment, whichever of the two it has', async () => {
    const { client } = await house.owner()
    const path = aPath()
    const { id, secret: old, hint } = await subscribe(client, path)
    const send = async () => {
      const before = receiver.at(path).length
      await anAgent(client)
      return (await arrived(path, before + 1)).at(-1) as Received
    }
    const { secret: next, nextSecret } = await made(client.webhooks.rotateSecret({ params: { id } }))
    expect(nextSecret?.hint).toBe(next?.slice(-4))
    const during = await send()
    for (const secret of [old, next]) verifyWebhook(during.headers, during.body, String(secret))
    expect((await made(client.webhooks.get({ params: { id } }))).hint).toBe(hint)

    const active = await made(client.webhooks.activateSecret({ params: { id } }))
    expect(active).toMatchObject({ hint: next?.slice(-4), nextSecret: null })
    const after = await send()
    verifyWebhook(after.headers, after.body, String(next))
    expect(() => verifyWebhook(after.headers, after.body, String(old))).toThrow(/signature/)
    expect((await client.webhooks.activateSecret({ params: { id } })).code).toBe('no_next_secret')
  })

  test('counts alone once the overlap has ended', async () => {
    const { client } = await house.owner()
    const path = aPath()
    const { id } = await subscribe(client, path)
    const { secret } = await made(client.webhooks.rotateSecret({ params: { id }, body: { overlapHours: 1 } }))
    await house.sql(`update webhooks set next_from = now() where id = $1`, [id])
    expect((await made(client.webhooks.get({ params: { id } }))).nextSecret).toBeNull()
    await anAgent(client)
    const [received] = await arrived(path, 1)
    verifyWebhook(received?.headers ?? {}, received?.body ?? '', String(secret))
    expect(received?.headers).not.toHaveProperty('x-service-signature-next')
    const third = await made(client.webhooks.rotateSecret({ params: { id }, body: { overlapHours: 0 } }))
    expect(third).toMatchObject({ hint: third.secret?.slice(-4), nextSecret: null })
  })
})

test('every event has a schema and an example, in the list and in the OpenAPI document', async () => {
  const { client } = await house.owner()
  const { data } = await made(client.events.types())
  const names = data.map(({ event }) => event)
  expect(names).toEqual(expect.arrayContaining(['agent.created', 'transaction.completed', 'card.issued']))
  expect(data.filter(({ reserved }) => reserved).map(({ event }) => event)).toEqual([
    'intent.matched',
    'intent.mismatched',
    'mpp.credential.expired',
  ])
  const { webhooks } = (await house.http('GET', '/openapi.json')).body
  expect(Object.keys(webhooks)).toEqual(names)
  for (const { event, schema, example } of data) {
    const content = webhooks[event].post.requestBody.content['application/json']
    expect(content.schema.properties.data).toEqual(schema)
    expect(content.example.data).toEqual(example)
    expect(Object.keys(example)[0]).toMatch(/Id$/)
  }
})
