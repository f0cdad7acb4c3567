import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { newId } from '../../../src/values/ids.ts'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { aWebhook, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

/** The limit of waiting deliveries per subscription of an owner with very many subscriptions. */
const ROOM = 100

const PUBLISH_EVENTS = `
with e as (
  insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
  select id, $1, 'test', $2, jsonb_build_object('agentId', id), 'r', now(), 'key', 'agents.freeze', 'done', id
  from unnest($3::text[]) as id
  returning id, owner_id as "ownerId", mode, event, data)
select publish_events(jsonb_agg(to_jsonb(e)), array[$1]) from e`

/** An owner on the smallest plan, with so many subscriptions that each has the smallest backlog. */
async function crowdedOwner() {
  const { client, ownerId } = await service.owner()
  await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'enterprise' } }))
  const path = `/${ownerId}`
  const openAnswers: (() => void)[] = []
  let isHolding = true
  receiver.treat(path, response => {
    const answer = () => void response.writeHead(204).end()
    if (isHolding) openAnswers.push(answer)
    else answer()
  })
  const { id } = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
  await service.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
     select 'webhook_' || $1 || n, $1, 'test', now(), now(), 'https://example.com/', '{x}', 'active', 's', 'h', 0
     from generate_series(1, 60) n`,
    [ownerId],
  )
  await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'free' } }))
  async function publish(event: string, ids: readonly string[]): Promise<void> {
    await service.sql(PUBLISH_EVENTS, [ownerId, event, ids])
    await service.sql('notify deliveries')
  }
  const eventIds = async () => {
    const rows = await service.sql('select event_id as id from deliveries where webhook_id = $1', [id])
    return rows.map(row => row.id)
  }
  const params = { id }
  return {
    client,
    ownerId,
    id,
    params,
    publish,
    eventIds,
    webhook: () => bodyOf(client.webhooks.get({ params })),
    received: () => receiver.at(path).map(({ headers }) => String(headers['x-service-event-id'])),
    release() {
      isHolding = false
      for (const answer of openAnswers.splice(0)) answer()
    },
  }
}

const ids = (count: number): string[] => Array.from({ length: count }, () => newId('event'))

const eventData = async (client: TestClient, event: string) =>
  (await bodyOf(client.events.list({ query: { event } }))).data.map(({ data }) => data)

describe('a subscription with more waiting deliveries than its plan allows', () => {
  test('is paused, shows that, and later gets every event that it was subscribed to at the time', async () => {
    const { client, ownerId, id, params, publish, eventIds, webhook, received, release } =
      await crowdedOwner()
    const [late = '', ...first] = ids(ROOM + 21)
    await publish('agent.created', first)
    await until('each has a delivery', async () => (await eventIds()).length === ROOM + 20)
    const { backlog, status } = await until('it is paused', async () => {
      const webhookNow = await webhook()
      return webhookNow.backlog ? { ...webhookNow, backlog: webhookNow.backlog } : undefined
    })
    expect([status, backlog.message]).toEqual(['active', expect.stringMatching(/nothing is lost/)])
    expect(await eventData(client, 'webhook.paused')).toEqual([{ ownerId, webhookIds: [id] }])
    const { checks } = (await service.http('GET', '/health')).body
    expect(checks.deliveries.behind).toBe(1)

    // An event whose transaction began before the pause and commits only now.
    await publish('agent.created', [late])
    const second = ids(150)
    await publish('agent.created', second)
    const update = (body: object) => bodyOf(client.webhooks.update({ params, body }))
    await update({ events: ['agent.frozen'] })
    await publish('agent.created', ids(30))
    const frozenIds = ids(40)
    await publish('agent.frozen', frozenIds)
    await update({ status: 'disabled' })
    await publish('agent.frozen', ids(20))
    await update({ status: 'active' })
    const last = ids(30)
    await publish('agent.frozen', last)
    expect((await eventIds()).toSorted()).toEqual(first.toSorted())

    release()
    await until('it has caught up', async () => (await webhook()).backlog === null)
    const expected = [...first, late, ...second, ...frozenIds, ...last]
    await until('all have arrived', () => received().length >= expected.length)
    expect(received().toSorted()).toEqual(expected.toSorted())
    expect(await eventData(client, 'webhook.resumed')).toEqual([{ ownerId, webhookIds: [id] }])
    const [next = ''] = ids(1)
    await publish('agent.frozen', [next])
    await until('the next one arrives', () => received().includes(next))
    const later = new Set([...second, ...frozenIds, ...last])
    const inOrder = 'select event_id from deliveries where webhook_id = $1 order by created_at, event_id'
    const rows = await service.sql<{ event_id: string }>(inOrder, [id])
    expect(rows.map(row => row.event_id).filter(eventId => later.has(eventId))).toEqual([...later])
  })

  test('gets nothing more once it is deleted, and delays no other', async () => {
    const { client, params, publish, webhook, received, release } = await crowdedOwner()
    await publish('agent.created', ids(ROOM + 20))
    await until('it is paused', async () => (await webhook()).backlog)
    const missed = new Set(ids(50))
    await publish('agent.created', [...missed])
    await bodyOf(client.webhooks.delete({ params }))
    release()
    const replayOnce = `select made, is_through from replay_events($1, 100, '')`
    expect(await service.sql(replayOnce, [params.id])).toEqual([{ made: 0, is_through: false }])
    // Deliveries in transit at that moment still arrive.
    expect(received().filter(eventId => missed.has(eventId))).toEqual([])
  })

  test('can be changed twenty times while paused; the refusal says so', async () => {
    const { client, params, publish, webhook } = await crowdedOwner()
    await publish('agent.created', ids(ROOM + 20))
    await until('it is paused', async () => (await webhook()).backlog)
    const change = () => client.webhooks.update({ params, body: { events: ['agent.created'] } })
    for (let n = 0; n < 20; n++) expect((await change()).status).toBe(200)
    expect(await change()).toMatchObject({ status: 409, code: 'changed_too_often' })
    expect((await client.webhooks.update({ params, body: { description: 'B' } })).status).toBe(200)
  })
})

test('an event that is not committed yet delays no other and is not skipped', async () => {
  const { ownerId, id, publish, eventIds } = await crowdedOwner()
  await service.sql(
    `update webhooks set backlog_after = hold_events($2, 'test'), backlog_since = now(), paused_until = now() + interval '1 hour',
       failures = 3, failing_since = now() where id = $1`,
    [id, ownerId],
  )
  const [slow = '', quick = ''] = ids(2)
  const publisher = new pg.Client({ connectionString: service.databaseUrl })
  await publisher.connect()
  await publisher.query('begin')
  await publisher.query(PUBLISH_EVENTS, [ownerId, 'agent.created', [slow]])
  await publish('agent.created', [quick])
  const replay = () => service.sql(`select made, is_through from replay_events($1, 100, '')`, [id])
  await until('the quick one is made', async () => (await replay())[0]?.made === 1)
  expect([await eventIds(), await replay()]).toEqual([[quick], [{ made: 0, is_through: true }]])
  await publisher.query('commit')
  await publisher.end()
  await service.sql('notify deliveries')
  await until('the slow one is made', async () => (await replay())[0]?.made === 1)
  expect((await eventIds()).toSorted()).toEqual([slow, quick].toSorted())
})

test('paused subscriptions all get their turn, even if there are more than one round serves', async () => {
  const crowded = await Promise.all([crowdedOwner(), crowdedOwner()])
  const rounds = new Set<unknown>()
  for (const [n, { id, publish, webhook }] of crowded.entries()) {
    await publish('agent.created', ids(ROOM + 20))
    await until('it is paused', async () => (await webhook()).backlog)
    // The first subscription has waited longest and has no room.
    await service.sql('update webhooks set backlog_after = $2 where id = $1', [id, String(n)])
  }
  await until('each has had its turn', async () => {
    const [row] = await service.sql(`select id from paused_by_backlog('{"free": 5000}', 1)`)
    rounds.add(row?.id)
    return crowded.every(({ id }) => rounds.has(id))
  })
  // A round finds none while this process is already serving them.
  expect([...rounds]).toEqual(expect.arrayContaining(crowded.map(({ id }) => id)))
  for (const { client, params } of crowded) await bodyOf(client.webhooks.delete({ params }))
})

test('events that are emitted while a subscription is paused and resumed have one delivery each', async () => {
  const { ownerId, id, publish, received, release, webhook } = await crowdedOwner()
  release()
  const all = Array.from({ length: 6 }, () => Array.from({ length: 8 }, () => ids(10)))
  // Each batch creates its ids long before it commits, as slow requests do.
  const lanes = all.map(async lane => {
    for (const some of lane) await publish('agent.created', some)
  })
  const pausing = (async () => {
    for (let n = 0; n < 4; n++) {
      await service.sql(
        `begin; select id from webhooks where id = '${id}' for update;
         update webhooks set backlog_after = hold_events('${ownerId}', 'test'), backlog_since = now()
         where id = '${id}' and backlog_after is null; commit`,
      )
      await until('it has caught up', async () => (await webhook()).backlog === null)
    }
  })()
  await Promise.all([...lanes, pausing])
  const expected = all.flat(2)
  await until('all have arrived', () => received().length >= expected.length)
  expect(received().toSorted()).toEqual(expected.toSorted())
})

test.each([
  ['free', 5],
  ['starter', 20],
] as const)(
  'the plan %s allows %i subscriptions, and keeps those beyond that from a larger plan',
  async (plan, limit) => {
    const { client, ownerId } = await service.owner()
    for (let n = 0; n < limit; n++) await aWebhook(client)
    const { id } = await aWebhook(client)
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan } }))
    const body = { url: 'https://example.com/hooks', events: ['agent.frozen'] }
    expect(await client.webhooks.create({ body })).toMatchObject({
      status: 400,
      code: 'too_many_webhooks',
      error: `The plan ${plan} allows ${limit} subscriptions in each mode, and there are already ${limit + 1}. Delete one, add events to an existing one, or ask for a larger plan.`,
    })
    expect((await bodyOf(client.webhooks.get({ params: { id } }))).status).toBe('active')
    for (const surplus of (await bodyOf(client.webhooks.list({ query: { limit: 2 } }))).data)
      await bodyOf(client.webhooks.delete({ params: { id: surplus.id } }))
    expect((await client.webhooks.create({ body })).status).toBe(201)
  },
)
