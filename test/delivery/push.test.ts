import './push/push-events.ts'
import './push/push-of-people.ts'
import { describe, expect, test } from '@jest/globals'
import { openVapidPrivateKey } from '../../src/delivery/push/send.ts'
import { openVault } from '../../src/ports/vault.ts'
import { atOnce, rowOf } from '../support/at-once.ts'
import { startPushService, subscribe, subscriptionIds } from '../support/delivery/push.ts'
import { bodyOf } from '../support/factories.ts'
import { ENCRYPTION_KEY, http } from '../support/harness.ts'

const { vendor, service, aBrowser } = await startPushService()

describe('the VAPID key', () => {
  test('is generated once, even by concurrent requests, and its private half is sealed', async () => {
    const { client, key } = await service.owner()
    await service.sql('delete from vapid_keys')
    const requests = Array.from({ length: 10 }, () => bodyOf(client.push.vapidKey({})))
    const keys = new Set((await Promise.all(requests)).map(({ publicKey }) => publicKey))
    expect(keys.size).toBe(1)
    const [publicKey = ''] = keys
    expect(Buffer.from(publicKey, 'base64url')).toHaveLength(65)
    const rows = await service.sql<{ privateKey: string }>(
      'select private_key as "privateKey" from vapid_keys',
    )
    expect(rows).toHaveLength(1)
    const sealed = { publicKey, privateKey: rows[0]?.privateKey ?? '' }
    const privateKey = openVapidPrivateKey(openVault(ENCRYPTION_KEY), sealed)
    expect(Buffer.from(privateKey, 'base64url')).toHaveLength(32)
    expect(sealed.privateKey).not.toContain(privateKey)
    expect((await http(await service.another(), 'GET', '/push/vapid-key', { token: key })).body).toEqual({
      publicKey,
    })
  })
})

describe('a push subscription', () => {
  test('is shown without its keys, and by default gets the events that need a person', async () => {
    const { client, ownerId } = await service.owner()
    const { subscription } = vendor.browser()
    const expirationTime = Date.parse('2031-01-02T03:04:05.000Z')
    const body = { ...subscription, expirationTime, label: 'Ada’s phone' }
    const record = await bodyOf(client.push.create({ body }))
    expect(record).toEqual({
      id: expect.stringMatching(/^push_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      endpoint: subscription.endpoint,
      events: expect.arrayContaining(['intent.created', 'risk.review_required']),
      label: 'Ada’s phone',
      personId: null,
      expiresAt: '2031-01-02T03:04:05.000Z',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const { data } = await bodyOf(client.push.list({}))
    expect(data).toEqual([record])
    const storedRows = await service.sql('select * from push_subscriptions where id = $1', [record.id])
    expect(JSON.stringify(storedRows)).not.toContain(subscription.keys.auth)
    const { data: events } = await bodyOf(
      client.events.list({ query: { event: 'push_subscription.created' } }),
    )
    expect(events.map(event => event.data)).toEqual([
      { subscriptionId: record.id, label: 'Ada’s phone', personId: null },
    ])
  })

  test('with a known endpoint replaces the earlier one under its id, even with ten concurrent requests', async () => {
    const { client } = await service.owner()
    const browser = vendor.browser()
    const requests = Array.from({ length: 10 }, () => subscribe(client, browser))
    const ids = new Set((await Promise.all(requests)).map(({ id }) => id))
    expect([...ids]).toEqual(await subscriptionIds(client))
    const again = await subscribe(client, browser, { events: ['agent.frozen'], label: 'Tablet' })
    expect(again).toMatchObject({ id: [...ids][0], events: ['agent.frozen'], label: 'Tablet' })
    const { data } = await bodyOf(client.events.list({ query: { event: 'push_subscription.created' } }))
    expect(data).toHaveLength(1)
  })

  test('that is renewed while it is deleted exists under a new id', async () => {
    const { client } = await service.owner()
    const browser = vendor.browser()
    const { id } = await subscribe(client, browser)
    const [deleted, renewed] = await atOnce(
      service,
      rowOf('push_subscriptions', id),
      () => client.push.delete({ params: { id } }),
      () => subscribe(client, browser, { label: 'Tablet' }),
    )
    expect(deleted.status).toBe(204)
    expect(renewed.id).not.toBe(id)
    expect(await subscriptionIds(client)).toEqual([renewed.id])
  })

  test('is refused beyond a hundred, even with concurrent requests', async () => {
    const { client, ownerId } = await service.owner()
    await service.sql(
      `insert into push_subscriptions select 'push_' || $1 || n, $1, 'test', now(), now(), 'https://push.example/' || n,
       'x', 'x', '{agent.frozen}' from generate_series(1, 97) n`,
      [ownerId],
    )
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => client.push.create({ body: vendor.browser().subscription })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status === 400)
    expect(new Set(refused.map(({ error }) => error))).toEqual(
      new Set(['There are already 100 push subscriptions. Delete one.']),
    )
  })

  const { subscription } = vendor.browser()
  const offCurve = Buffer.alloc(65, 7).fill(4, 0, 1).toString('base64url')
  test.each([
    [
      'an endpoint inside',
      { endpoint: 'https://10.0.0.1/push' },
      'endpoint: The address 10.0.0.1 is refused',
    ],
    [
      'one of the metadata service',
      { endpoint: 'https://169.254.169.254/' },
      'endpoint: The address 169.254',
    ],
    ['one in the clear', { endpoint: 'http://push.example.com/a' }, 'endpoint: an https URL'],
    [
      'one with a password',
      { endpoint: 'https://a:b@push.example.com/a' },
      'endpoint: The URL contains a user name',
    ],
    ['events that there are not', { events: ['intent.create'] }, 'Did you mean intent.created'],
    ['no event', { events: [] }, 'events'],
    [
      'a key that is no point',
      { keys: { ...subscription.keys, p256dh: offCurve } },
      'keys.p256dh: a public key of P-256',
    ],
    [
      'a key that is too short',
      { keys: { ...subscription.keys, p256dh: 'BA9M' } },
      'keys.p256dh: a public key of P-256',
    ],
    ['half a secret', { keys: { ...subscription.keys, auth: 'AAAA' } }, 'keys.auth: 16 bytes'],
    ['what nobody knows', { userVisibleOnly: true }, 'userVisibleOnly'],
  ])('with %s is refused', async (_, members, message) => {
    const { key, client } = await service.owner()
    const body = { ...subscription, ...members }
    const answer = await service.http('POST', '/push/subscriptions', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(message)
    expect(await subscriptionIds(client)).toEqual([])
  })

  test('belongs to one owner in one mode, and is deleted once', async () => {
    const { client } = await service.owner()
    const { client: other } = await service.owner()
    const { params } = await aBrowser(client)
    expect((await other.push.delete({ params })).status).toBe(404)
    expect((await other.push.test({ params })).status).toBe(404)
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.push.delete({ params })))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    expect(await subscriptionIds(client)).toEqual([])
  })
})

describe('a test push', () => {
  test('arrives encrypted for its browser and signed by the service, with ids only', async () => {
    const { client } = await service.owner()
    const { params, id, messages, subscription } = await aBrowser(client)
    const result = await bodyOf(client.push.test({ params }))
    expect(result).toEqual({
      subscriptionId: id,
      delivered: true,
      dropped: false,
      status: 201,
      message: 'The push service accepted it.',
    })
    expect(messages).toHaveLength(1)
    const [{ headers, payload, claims, senderKey } = messages[0] as never] = messages
    expect(payload).toEqual({
      eventId: expect.stringMatching(/^test_/),
      event: 'push_subscription.tested',
      createdAt: expect.any(String),
      subscriptionId: id,
    })
    expect(headers).toMatchObject({ ttl: '86400', urgency: 'normal', 'content-encoding': 'aes128gcm' })
    const { publicKey } = await bodyOf(client.push.vapidKey({}))
    expect(senderKey).toBe(publicKey)
    const inHours = (Number(claims.exp) * 1_000 - Date.now()) / 3_600_000
    expect(claims).toMatchObject({
      aud: new URL(subscription.endpoint).origin,
      sub: 'mailto:ada@example.com',
    })
    expect(inHours > 0 && inHours <= 24).toBe(true)
  })

  test.each([404, 410])('that is answered with %i deletes the subscription', async status => {
    const { client } = await service.owner()
    const { params, id, answerWith } = await aBrowser(client)
    answerWith(status)
    const message = `The push service answered ${status}: it no longer knows the subscription.`
    const result = await bodyOf(client.push.test({ params }))
    expect(result).toEqual({ subscriptionId: id, delivered: false, dropped: true, status, message })
    expect(await subscriptionIds(client)).toEqual([])
    const { data } = await bodyOf(client.events.list({ query: { event: 'push_subscription.deleted' } }))
    expect(data.map(event => event.data)).toEqual([
      { subscriptionId: id, label: null, personId: null, reason: 'gone' },
    ])
  })

  test.each([
    [429, 'The push service answered 429.'],
    [500, 'The push service answered 500.'],
    [301, 'The push service answered 301.'],
  ])('that is answered with %i reports that, and changes nothing', async (status, message) => {
    const { client } = await service.owner()
    const { params, id, answerWith } = await aBrowser(client)
    answerWith(status)
    expect(await bodyOf(client.push.test({ params }))).toMatchObject({
      delivered: false,
      dropped: false,
      message,
    })
    expect(await subscriptionIds(client)).toEqual([id])
  })

  test('with the same Idempotency-Key is sent once', async () => {
    const { key, client } = await service.owner()
    const { id, messages } = await aBrowser(client)
    const ask = () =>
      service.http('POST', `/push/subscriptions/${id}/test`, {
        token: key,
        headers: { 'idempotency-key': 'one' },
      })
    const [first, second] = [await ask(), await ask()]
    expect(second.body).toEqual(first.body)
    expect(messages).toHaveLength(1)
  })
})
