import { describe, expect, test } from '@jest/globals'
import { openPrivateKey } from '../../src/delivery/push/vapid.ts'
import { openVault } from '../../src/kernel/vault.ts'
import { anAgent, anAgentUnder, anIntent, made, type TestClient } from '../support/factories.ts'
import { ENCRYPTION_KEY, http, startHouse } from '../support/harness.ts'
import { type Browser, decrypt, pushService } from '../support/push-service.ts'
import { until } from '../support/until.ts'

const service = await pushService()
const house = await startHouse({
  pushes: true,
  outbound: service.outbound,
  env: { PUSH_CONTACT: 'mailto:ada@example.com' },
})

type Members = Partial<NonNullable<Parameters<TestClient['push']['create']>[0]['body']>>

const subscribe = (client: TestClient, browser: Browser, members: Members = {}) =>
  made(client.push.create({ body: { ...browser.subscription, ...members } }))

/** A browser that hears of these events. */
async function aBrowser(client: TestClient, members: Members = {}) {
  const browser = service.browser()
  const { id } = await subscribe(client, browser, members)
  return { ...browser, id, params: { id } }
}

const listed = async (client: TestClient) => (await made(client.push.list({}))).data.map(({ id }) => id)

const heard = ({ messages }: Browser) => messages.map(({ payload }) => payload.event)

const freeze = async (client: TestClient, id: string) =>
  made(client.agents.freeze({ params: { id }, body: { reason: 'Something secret' } }))

describe('the key of this installation', () => {
  test('is made once, whoever asks first, and its other half is sealed', async () => {
    const { client, key } = await house.owner()
    await house.sql('delete from vapid_keys')
    const asked = Array.from({ length: 10 }, () => made(client.push.vapidKey({})))
    const keys = new Set((await Promise.all(asked)).map(({ publicKey }) => publicKey))
    expect(keys.size).toBe(1)
    const [publicKey = ''] = keys
    expect(Buffer.from(publicKey, 'base64url')).toHaveLength(65)
    const rows = await house.sql<{ privateKey: string }>('select private_key as "privateKey" from vapid_keys')
    expect(rows).toHaveLength(1)
    const sealed = { publicKey, privateKey: rows[0]?.privateKey ?? '' }
    const privateKey = openPrivateKey(openVault(ENCRYPTION_KEY), sealed)
    expect(Buffer.from(privateKey, 'base64url')).toHaveLength(32)
    expect(sealed.privateKey).not.toContain(privateKey)
    expect((await http(await house.another(), 'GET', '/push/vapid-key', { token: key })).body).toEqual({
      publicKey,
    })
  })
})

describe('a subscription', () => {
  test('is shown without its keys, and hears of what waits for a person', async () => {
    const { client, ownerId } = await house.owner()
    const { subscription } = service.browser()
    const expirationTime = Date.parse('2031-01-02T03:04:05.000Z')
    const body = { ...subscription, expirationTime, label: 'Ada’s phone' }
    const record = await made(client.push.create({ body }))
    expect(record).toEqual({
      id: expect.stringMatching(/^push_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      endpoint: subscription.endpoint,
      events: expect.arrayContaining(['intent.created', 'risk.review_required']),
      label: 'Ada’s phone',
      expiresAt: '2031-01-02T03:04:05.000Z',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const { data } = await made(client.push.list({}))
    expect(data).toEqual([record])
    const kept = await house.sql('select * from push_subscriptions where id = $1', [record.id])
    expect(JSON.stringify(kept)).not.toContain(subscription.keys.auth)
    const { data: events } = await made(client.events.list({ query: { event: 'push_subscription.created' } }))
    expect(events.map(one => one.data)).toEqual([{ subscriptionId: record.id, label: 'Ada’s phone' }])
  })

  test('of the same endpoint is the same one, with what was said last; ten at once make one', async () => {
    const { client } = await house.owner()
    const browser = service.browser()
    const asked = Array.from({ length: 10 }, () => subscribe(client, browser))
    const ids = new Set((await Promise.all(asked)).map(({ id }) => id))
    expect([...ids]).toEqual(await listed(client))
    const again = await subscribe(client, browser, { events: ['agent.frozen'], label: 'Tablet' })
    expect(again).toMatchObject({ id: [...ids][0], events: ['agent.frozen'], label: 'Tablet' })
    const { data } = await made(client.events.list({ query: { event: 'push_subscription.created' } }))
    expect(data).toHaveLength(1)
  })

  test('is one of a hundred at most, however many are asked for at once', async () => {
    const { client, ownerId } = await house.owner()
    await house.sql(
      `insert into push_subscriptions select 'push_' || $1 || n, $1, 'test', now(), now(), 'https://push.example/' || n,
       'x', 'x', '{agent.frozen}' from generate_series(1, 97) n`,
      [ownerId],
    )
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => client.push.create({ body: service.browser().subscription })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status === 400)
    expect(new Set(refused.map(({ error }) => error))).toEqual(
      new Set(['There are 100 push subscriptions already. Delete one.']),
    )
  })

  const { subscription } = service.browser()
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
      'endpoint: The URL holds a user name',
    ],
    ['events that there are not', { events: ['intent.create'] }, 'Did you mean intent.created'],
    ['no event', { events: [] }, 'events'],
    [
      'a key that is no point',
      { keys: { ...subscription.keys, p256dh: offCurve } },
      'keys.p256dh: not a public key',
    ],
    ['a key that is too short', { keys: { ...subscription.keys, p256dh: 'BA9M' } }, 'keys.p256dh: 65 bytes'],
    ['half a secret', { keys: { ...subscription.keys, auth: 'AAAA' } }, 'keys.auth: 16 bytes'],
    ['what nobody knows', { userVisibleOnly: true }, 'userVisibleOnly'],
  ])('error: with %s, nothing is kept', async (_, members, message) => {
    const { key, client } = await house.owner()
    const body = { ...subscription, ...members }
    const answer = await house.http('POST', '/push/subscriptions', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(message)
    expect(await listed(client)).toEqual([])
  })

  test('is its owner’s alone, in one mode, and deleted once', async () => {
    const { client } = await house.owner()
    const { client: other } = await house.owner()
    const { params } = await aBrowser(client)
    expect((await other.push.delete({ params })).status).toBe(404)
    expect((await other.push.test({ params })).status).toBe(404)
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.push.delete({ params })))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    expect(await listed(client)).toEqual([])
  })
})

describe('a test', () => {
  test('arrives, encrypted for that browser and signed by us, with ids only', async () => {
    const { client } = await house.owner()
    const { params, id, messages, subscription } = await aBrowser(client)
    const result = await made(client.push.test({ params }))
    expect(result).toEqual({
      subscriptionId: id,
      delivered: true,
      dropped: false,
      status: 201,
      message: 'The push service has taken it.',
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
    const { publicKey } = await made(client.push.vapidKey({}))
    expect(senderKey).toBe(publicKey)
    const inHours = (Number(claims.exp) * 1_000 - Date.now()) / 3_600_000
    expect(claims).toMatchObject({
      aud: new URL(subscription.endpoint).origin,
      sub: 'mailto:ada@example.com',
    })
    expect(inHours > 0 && inHours <= 24).toBe(true)
  })

  test.each([404, 410])('that is answered with %i drops the subscription', async status => {
    const { client } = await house.owner()
    const { params, id, answerWith } = await aBrowser(client)
    answerWith(status)
    const message = `The push service answered ${status}: it knows the subscription no more.`
    const result = await made(client.push.test({ params }))
    expect(result).toEqual({ subscriptionId: id, delivered: false, dropped: true, status, message })
    expect(await listed(client)).toEqual([])
    const { data } = await made(client.events.list({ query: { event: 'push_subscription.deleted' } }))
    expect(data.map(one => one.data)).toEqual([{ subscriptionId: id, label: null, reason: 'gone' }])
  })

  test.each([
    [429, 'The push service answered 429.'],
    [500, 'The push service answered 500.'],
    [301, 'The push service answered 301.'],
  ])('that is answered with %i says so, and nothing else happens', async (status, message) => {
    const { client } = await house.owner()
    const { params, id, answerWith } = await aBrowser(client)
    answerWith(status)
    expect(await made(client.push.test({ params }))).toMatchObject({
      delivered: false,
      dropped: false,
      message,
    })
    expect(await listed(client)).toEqual([id])
  })

  test('with the same Idempotency-Key is sent once', async () => {
    const { key, client } = await house.owner()
    const { id, messages } = await aBrowser(client)
    const ask = () =>
      house.http('POST', `/push/subscriptions/${id}/test`, {
        token: key,
        headers: { 'idempotency-key': 'one' },
      })
    const [first, second] = [await ask(), await ask()]
    expect(second.body).toEqual(first.body)
    expect(messages).toHaveLength(1)
  })
})

describe('an event', () => {
  test('reaches every browser that is to hear of it, with its ids and nothing else', async () => {
    const { client } = await house.owner()
    const { client: stranger } = await house.owner()
    const browsers = [await aBrowser(client), await aBrowser(client, { events: ['*'] })]
    const deaf = [
      await aBrowser(client, { events: ['transfer.failed'] }),
      await aBrowser(client, { expirationTime: 1 }),
      await aBrowser(stranger),
    ]
    const agent = await anAgent(client)
    const intent = await anIntent(client, agent.id, { merchant: 'Casino', purpose: 'Nobody’s business' })
    await until('both to hear of it', () => browsers.every(one => heard(one).includes('intent.created')))
    const messages = browsers[0]?.messages ?? []
    expect(messages.map(({ payload }) => payload)).toEqual([
      {
        eventId: expect.stringMatching(/^event_/),
        event: 'intent.created',
        createdAt: expect.any(String),
        intentId: intent.id,
        agentId: agent.id,
      },
    ])
    expect(messages[0]?.headers.urgency).toBe('high')
    expect(deaf.flatMap(heard)).toEqual([])
  })

  test('of an intent that is decided at once reaches nobody', async () => {
    const { client } = await house.owner()
    const browser = await aBrowser(client, { events: ['intent.created', 'agent.frozen'] })
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    expect((await anIntent(client, agent.id)).status).toBe('approved')
    await freeze(client, agent.id)
    await until('the last of it', () => heard(browser).includes('agent.frozen'))
    expect(heard(browser)).toEqual(['agent.frozen'])
  })

  test('drops who is gone, and is not sent again to whoever did not take it', async () => {
    const { client } = await house.owner()
    const [gone, weary] = [await aBrowser(client), await aBrowser(client)]
    gone.answerWith(410)
    weary.answerWith(503)
    const agent = await anAgent(client)
    await freeze(client, agent.id)
    await until('one to be dropped', async () => (await listed(client)).length === 1)
    weary.answerWith(201)
    await made(client.agents.unfreeze({ params: { id: agent.id } }))
    await freeze(client, agent.id)
    await until('the second', () => weary.messages.length === 2)
    expect(await listed(client)).toEqual([weary.id])
    expect([heard(gone), heard(weary)]).toEqual([['agent.frozen'], ['agent.frozen', 'agent.frozen']])
    const { data } = await made(client.events.list({ query: { event: 'push_subscription.deleted' } }))
    expect(data.map(one => one.data)).toEqual([{ subscriptionId: gone.id, label: null, reason: 'gone' }])
  })

  test('does not wait for a push service that does not answer', async () => {
    const { client } = await house.owner()
    const silent = await aBrowser(client)
    silent.answerWith(null)
    const agent = await anAgent(client)
    await freeze(client, agent.id)
    await until('it to be asked', () => silent.messages.length === 1)
    const other = await aBrowser(client, { events: ['agent.unfrozen'] })
    await made(client.agents.unfreeze({ params: { id: agent.id } }))
    await until('the other one', () => heard(other).length === 1)
    silent.answerWith(201)
  })

  test('is sent once, whichever of several processes sends it', async () => {
    const { client, ownerId } = await house.owner()
    const browser = await aBrowser(client, { events: ['agent.frozen'] })
    await house.sql(
      `with written as (
         insert into events (id, owner_id, mode, event, data, request_id, created_at)
         select 'event_' || $1 || n, $1, 'test', 'agent.frozen', jsonb_build_object('agentId', n::text), 'r', now()
         from generate_series(1, 100) n returning id, owner_id as "ownerId", mode, event, data)
       select publish_pushes((select jsonb_agg(written) from written), array[$1])`,
      [ownerId],
    )
    await house.sql('notify pushes')
    await until('all of them', () => browser.messages.length >= 100)
    expect(new Set(browser.messages.map(({ payload }) => payload.agentId)).size).toBe(100)
    expect(await house.sql('select 1 from pushes where owner_id = $1', [ownerId])).toEqual([])
    expect(browser.messages).toHaveLength(100)
  })
})

test('the browsers of these tests read what the standard gives as an example (RFC 8291, section 5)', () => {
  const of = (text: string) => Buffer.from(text, 'base64url')
  const body = of(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
  const text = decrypt(body, of('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'), of('BTBZMqHH6r4Tts7J_aSIgg'))
  expect(text.toString()).toBe('When I grow up, I want to be a watermelon')
})
