import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { expandDocument } from '../../../src/derive/openapi/write.ts'
import { aKey, aWebhook, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { everyOne } from '../../support/insight/by-hand.ts'

const service = await startTestService({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

describe('a webhook subscription', () => {
  test('shows its secret once, and stores it sealed', async () => {
    const { client } = await service.owner()
    const body = { url: 'https://example.com/hooks', events: ['agent.frozen'], description: 'Bookkeeping' }
    const create = () => client.webhooks.create({ body, idempotencyKey: 'once' })
    const { secret, standardSecret, ...rest } = await bodyOf(create())
    expect(secret).toMatch(/^whsec_\w{43}$/)
    expect(rest).toMatchObject({ ...body, status: 'active', statusReason: null, hint: secret?.slice(-4) })
    expect(await bodyOf(create())).toEqual({ ...rest, secret: null, standardSecret: null })
    expect(await bodyOf(client.webhooks.get({ params: { id: rest.id } }))).toEqual(rest)
    const [row] = await service.sql('select secret from webhooks where id = $1', [rest.id])
    expect(String(row?.secret)).not.toContain(String(secret).slice(6))
    const storedKeys = await service.sql(
      `select body from idempotency_keys where body like '%' || $1 || '%' or body like '%' || $2 || '%'`,
      [secret, standardSecret],
    )
    expect(storedKeys).toEqual([])
  })

  test.each([
    ['http://10.0.0.1/', /^url: /],
    ['http://169.254.169.254/latest', /^url: /],
    ['http://metadata.google.internal/', /^url: /],
    ['http://[::ffff:10.0.0.1]/', /^url: /],
    ['ftp://example.com/', /^url: /],
    ['not a url', /^url: /],
  ])('to %s is refused with the name of the field', async (url, message) => {
    const { client } = await service.owner()
    const before = (await bodyOf(client.webhooks.list())).data.length
    const answer = await client.webhooks.create({ body: { url, events: ['*'] } })
    expect([answer.status, answer.error]).toEqual([400, expect.stringMatching(message)])
    const { id } = await aWebhook(client)
    expect((await client.webhooks.update({ params: { id }, body: { url } })).status).toBe(400)
    expect((await bodyOf(client.webhooks.get({ params: { id } }))).url).toBe(
      'https://example.com/hooks/payments',
    )
    expect((await bodyOf(client.webhooks.list())).data).toHaveLength(before + 1)
  })

  test('to an unknown event is refused with the event that was probably meant', async () => {
    const { client } = await service.owner()
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

  test('is changed, listed and deleted by its owner only, and each change is an event', async () => {
    const [{ client }, stranger] = [await service.owner(), await service.owner()]
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
    const disabled = await bodyOf(
      client.webhooks.update({ params, body: { status: 'disabled', events: ['*'], description: null } }),
    )
    expect(disabled).toMatchObject({
      status: 'disabled',
      statusReason: 'Disabled by its owner.',
      events: ['*'],
    })
    const list = (status: 'active' | 'disabled') => bodyOf(client.webhooks.list({ query: { status } }))
    expect([(await list('active')).data.length, (await list('disabled')).data.length]).toEqual([0, 1])
    await bodyOf(client.webhooks.delete({ params }))
    expect((await client.webhooks.get({ params })).status).toBe(404)
    expect((await bodyOf(client.webhooks.list())).data).toEqual([])
    const webhookEvents = (await bodyOf(client.events.list())).data.filter(({ event }) =>
      event.startsWith('webhook.'),
    )
    expect(webhookEvents.map(({ event }) => event)).toEqual([
      'webhook.deleted',
      'webhook.updated',
      'webhook.created',
    ])
    expect(webhookEvents[1]?.data).toMatchObject({
      webhookId: id,
      changed: ['events', 'description', 'status'],
    })
  })

  test('is refused with a read-only key, and for an agent', async () => {
    const { client } = await service.owner()
    const reader = service.client(String((await aKey(client, { scopes: ['webhooks:read'] })).key))
    expect((await bodyOf(reader.webhooks.list())).data).toEqual([])
    const body = { url: 'https://example.com/hooks', events: ['*'] }
    expect((await reader.webhooks.create({ body })).code).toBe('missing_scope')
  })
})

test('a webhook subscription shows the tier of its retries, by the plan', async () => {
  const { client, ownerId } = await service.owner()
  const { id, retries } = await bodyOf(
    client.webhooks.create({ body: { url: 'https://example.com/hooks', events: ['*'] } }),
  )
  const backoffSeconds = [60, 300, 900, 3_600]
  expect(retries).toEqual({ tier: 'full_retry', maxAttempts: 5, backoffSeconds, deadLetter: false })
  const single = { maxAttempts: 1, backoffSeconds: [], deadLetter: false }
  const shownOn = async (plan: 'free' | 'starter' | 'enterprise') => {
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan } }))
    return (await bodyOf(client.webhooks.get({ params: { id } }))).retries
  }
  expect(await shownOn('free')).toEqual({ tier: 'basic', ...single })
  expect(await shownOn('starter')).toEqual({ tier: 'full', ...single })
  const enterprise = { tier: 'full_dlq', maxAttempts: 5, backoffSeconds, deadLetter: true }
  expect(await shownOn('enterprise')).toEqual(enterprise)
  expect((await bodyOf(client.webhooks.list())).data).toMatchObject([{ retries: enterprise }])
})

test('the kinds of events are listed in pages, each kind once', async () => {
  const { client } = await service.owner()
  const first = await bodyOf(client.events.types())
  expect([first.data.length, first.hasMore]).toEqual([20, true])
  const all = await everyOne(query => bodyOf(client.events.types({ query })))
  expect(new Set(all.map(({ event }) => event)).size).toBe(all.length)
  expect(all.slice(0, 20)).toEqual(first.data)
})

test('every event has a schema and an example, in the list and in the OpenAPI document', async () => {
  const { client } = await service.owner()
  const data = await everyOne(query => bodyOf(client.events.types({ query })))
  const names = data.map(({ event }) => event)
  expect(names).toEqual(expect.arrayContaining(['agent.created', 'transaction.completed', 'card.issued']))
  expect(data.filter(({ reserved }) => reserved).map(({ event }) => event)).toEqual([
    'intent.matched',
    'intent.mismatched',
    'mpp.credential.expired',
  ])
  const { webhooks } = expandDocument(JSON.parse(readFileSync('openapi.json', 'utf8')))
  expect(Object.keys(webhooks)).toEqual(names)
  for (const { event, schema, example } of data) {
    const content = webhooks[event]?.post.requestBody?.content['application/json']
    expect(content?.schema?.properties?.data).toEqual(schema)
    expect(content?.example).toHaveProperty('data', example)
    expect(Object.keys(example)[0]).toMatch(/Id$/)
  }
})
