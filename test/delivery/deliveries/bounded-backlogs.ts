import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { newId } from '../../../src/values/ids.ts'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { aWebhook, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

/** How many deliveries may wait for one subscription of an owner who has very many. */
const ROOM = 100

const HAPPEN = `
with e as (
  insert into events (id, owner_id, mode, event, data, request_id, created_at)
  select id, $1, 'test', $2, jsonb_build_object('agentId', id), 'r', now() from unnest($3::text[]) as id
  returning id, owner_id as "ownerId", mode, event, data)
select publish_events(jsonb_agg(to_jsonb(e)), array[$1]) as made from e`

/** An owner on the smallest plan, with so many other subscriptions that each has the least room. */
async function crowdedOwner() {
  const { client, ownerId } = await service.owner()
  await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'enterprise' } }))
  const path = `/${ownerId}`
  const held: (() => void)[] = []
  let isHeld = true
  receiver.treat(path, response => {
    const answer = () => void response.writeHead(204).end()
    if (isHeld) held.push(answer)
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
  async function happen(event: string, ids: readonly string[]): Promise<number> {
    const [row] = await service.sql<{ made: number }>(HAPPEN, [ownerId, event, ids])
    await service.sql('notify deliveries')
    return row?.made ?? 0
  }
  const params = { id }
  return {
    client,
    ownerId,
    id,
    params,
    happen,
    webhook: () => bodyOf(client.webhooks.get({ params })),
    received: () => receiver.at(path).map(({ headers }) => String(headers['x-service-event-id'])),
    release() {
      isHeld = false
      for (const answer of held.splice(0)) answer()
    },
  }
}

const ids = (count: number): string[] => Array.from({ length: count }, () => newId('event'))

const told = async (client: TestClient, event: string) =>
  (await bodyOf(client.events.list({ query: { event } }))).data.map(({ data }) => data)

describe('a subscription for which more waits than its plan allows', () => {
  test('is paused, says so, and later gets all events since that it wanted when they happened', async () => {
    const { client, ownerId, id, params, happen, webhook, received, release } = await crowdedOwner()
    const [late = '', ...first] = ids(ROOM + 21)
    expect(await happen('agent.created', first)).toBe(ROOM + 20)
    const { backlog, status } = await until('it is paused', async () => {
      const seen = await webhook()
      return seen.backlog ? { ...seen, backlog: seen.backlog } : undefined
    })
    expect([status, backlog.message]).toEqual(['active', expect.stringMatching(/nothing is lost/)])
    expect(await told(client, 'webhook.paused')).toEqual([{ ownerId, webhookIds: [id] }])
    const { checks } = (await service.http('GET', '/health')).body
    expect(checks.deliveries.behind).toBe(1)

    // An event that was begun before the pause and is committed only now.
    expect(await happen('agent.created', [late])).toBe(1)
    const second = ids(150)
    expect(await happen('agent.created', second)).toBe(0)
    const update = (body: object) => bodyOf(client.webhooks.update({ params, body }))
    await update({ events: ['agent.frozen'] })
    await happen('agent.created', ids(30))
    const wanted = ids(40)
    await happen('agent.frozen', wanted)
    await update({ status: 'disabled' })
    await happen('agent.frozen', ids(20))
    await update({ status: 'active' })
    const last = ids(30)
    expect(await happen('agent.frozen', last)).toBe(0)

    release()
    await until('it has caught up', async () => (await webhook()).backlog === null)
    const expected = [...first, late, ...second, ...wanted, ...last]
    await until('all have arrived', () => received().length >= expected.length)
    expect(received().toSorted()).toEqual(expected.toSorted())
    expect(await told(client, 'webhook.resumed')).toEqual([{ ownerId, webhookIds: [id] }])
    expect(await happen('agent.frozen', ids(1))).toBe(1)
    const later = new Set([...second, ...wanted, ...last])
    const inOrder = 'select event_id from deliveries where webhook_id = $1 order by created_at, event_id'
    const rows = await service.sql<{ event_id: string }>(inOrder, [id])
    expect(rows.map(row => row.event_id).filter(one => later.has(one))).toEqual([...later])
  }, 60_000)

  test('gets nothing more once it is deleted, and delays no other', async () => {
    const { client, params, happen, webhook, received, release } = await crowdedOwner()
    await happen('agent.created', ids(ROOM + 20))
    await until('it is paused', async () => (await webhook()).backlog)
    await happen('agent.created', ids(50))
    await bodyOf(client.webhooks.delete({ params }))
    const before = received().length
    release()
    const open = `select made, is_through from replay_events($1, 100, '')`
    expect(await service.sql(open, [params.id])).toEqual([{ made: 0, is_through: false }])
    expect(received()).toHaveLength(before)
  })

  test('may be changed twenty times meanwhile; the refusal says so', async () => {
    const { client, params, happen, webhook } = await crowdedOwner()
    await happen('agent.created', ids(ROOM + 20))
    await until('it is paused', async () => (await webhook()).backlog)
    const change = () => client.webhooks.update({ params, body: { events: ['agent.created'] } })
    for (let n = 0; n < 20; n++) expect((await change()).status).toBe(200)
    expect(await change()).toMatchObject({ status: 409, code: 'changed_too_often' })
    expect((await client.webhooks.update({ params, body: { description: 'B' } })).status).toBe(200)
  })
})

test('an event that is not committed yet delays the replay and is not skipped', async () => {
  const { ownerId, id, happen } = await crowdedOwner()
  await service.sql(
    `update webhooks set backlog_after = hold_events($2, 'test'), backlog_since = now(), paused_until = now() + interval '1 hour',
       failures = 3, failing_since = now() where id = $1`,
    [id, ownerId],
  )
  const [slow = '', quick = ''] = ids(2)
  const publisher = new pg.Client({ connectionString: service.databaseUrl })
  await publisher.connect()
  await publisher.query('begin')
  await publisher.query(HAPPEN, [ownerId, 'agent.created', [slow]])
  expect(await happen('agent.created', [quick])).toBe(0)
  const replay = () => service.sql(`select made, is_through from replay_events($1, 100, '')`, [id])
  expect(await replay()).toEqual([{ made: 0, is_through: false }])
  await publisher.query('commit')
  await publisher.end()
  expect(await replay()).toEqual([{ made: 2, is_through: true }])
})

test('more paused subscriptions than one round serves all get their turn', async () => {
  const crowded = await Promise.all([crowdedOwner(), crowdedOwner()])
  const rounds = new Set<unknown>()
  for (const [n, { id, happen, webhook }] of crowded.entries()) {
    await happen('agent.created', ids(ROOM + 20))
    await until('it is paused', async () => (await webhook()).backlog)
    // The first one has waited longest and has no room.
    await service.sql('update webhooks set backlog_after = $2 where id = $1', [id, String(n)])
  }
  await until('each has had its turn', async () => {
    const [row] = await service.sql(`select id from paused_by_backlog('{"free": 5000}', 1)`)
    rounds.add(row?.id)
    return crowded.every(({ id }) => rounds.has(id))
  })
  // A round finds none while the keeper of this process has them in hand.
  expect([...rounds]).toEqual(expect.arrayContaining(crowded.map(({ id }) => id)))
  for (const { client, params } of crowded) await bodyOf(client.webhooks.delete({ params }))
})

test('events that are emitted while a subscription is paused and resumed have one delivery each', async () => {
  const { ownerId, id, happen, received, release, webhook } = await crowdedOwner()
  release()
  const all = Array.from({ length: 6 }, () => Array.from({ length: 8 }, () => ids(10)))
  // Each batch makes its ids long before it commits, as slow requests do.
  const lanes = all.map(async lane => {
    for (const some of lane) await happen('agent.created', some)
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
}, 60_000)

test.each([
  ['free', 5],
  ['starter', 20],
] as const)('the plan %s has %i subscriptions; who has more keeps them', async (plan, most) => {
  const { client, ownerId } = await service.owner()
  for (let n = 0; n < most; n++) await aWebhook(client)
  const { id } = await aWebhook(client)
  await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan } }))
  const body = { url: 'https://example.com/hooks', events: ['agent.frozen'] }
  expect(await client.webhooks.create({ body })).toMatchObject({
    status: 400,
    code: 'too_many_webhooks',
    error: `The plan ${plan} has ${most} subscriptions in each mode, and there are ${most + 1} already. Delete one, let one hear of more events, or ask for a larger plan.`,
  })
  expect((await bodyOf(client.webhooks.get({ params: { id } }))).status).toBe('active')
  for (const gone of (await bodyOf(client.webhooks.list({ query: { limit: 2 } }))).data)
    await bodyOf(client.webhooks.delete({ params: { id: gone.id } }))
  expect((await client.webhooks.create({ body })).status).toBe(201)
})
