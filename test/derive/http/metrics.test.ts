import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { storeDeliveries } from '../../support/delivery/deliveries.ts'
import { aKey, anAgent, aPolicy, aWebhook, bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET } from '../../support/harness.ts'
import { startSampleService } from '../../support/sample-service.ts'

let answerOfSystem = async (): Promise<string> => 'confirmed'
const service = await startSampleService({ callSystem: () => answerOfSystem() })
const owner = await service.owner()

const text = async (): Promise<string> =>
  (await service.http('GET', '/metrics', { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } })).text

async function value(name: string, labels: Record<string, string> = {}): Promise<number> {
  const line = (await text())
    .split('\n')
    .find(
      candidate =>
        candidate.startsWith(name) &&
        Object.entries(labels).every(([key, is]) => candidate.includes(`${key}="${is}"`)),
    )
  return Number(line?.split(' ').at(-1) ?? 0)
}

const servedCount = (operation: string, status: number) =>
  value('http_requests_total', { operation, status: String(status) })

describe('the metrics', () => {
  test('require the dashboard secret', async () => {
    expect((await service.http('GET', '/metrics')).status).toBe(401)
    expect(
      (await service.http('GET', '/metrics', { headers: { 'x-dashboard-secret': 'guess' } })).status,
    ).toBe(401)
    expect((await service.http('GET', '/metrics', { token: owner.key })).status).toBe(403)
    const answer = await service.http('GET', '/metrics', {
      headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    expect(answer.text).toMatch(/^# HELP /)
  })

  test('count requests by operation and status', async () => {
    const before = [await servedCount('policies.create', 201), await servedCount('policies.create', 400)]
    for (let count = 0; count < 3; count++) await aPolicy(owner.client)
    await owner.client.policies.create({ body: { name: '' } })
    expect([await servedCount('policies.create', 201), await servedCount('policies.create', 400)]).toEqual([
      (before[0] ?? 0) + 3,
      (before[1] ?? 0) + 1,
    ])
  })

  test('measure the duration of requests by noun, class and class of status, not by each operation', async () => {
    const measured = (noun: string, of: string, status: string) =>
      value('http_request_seconds_count', { noun, class: of, status })
    await owner.client.policies.create({ body: { name: '' } })
    await owner.client.policies.list()
    await owner.client.analytics.costs({ query: {} })
    expect(await measured('policies', 'write', '4xx')).toBeGreaterThan(0)
    expect(await measured('policies', 'read', '2xx')).toBe(1)
    expect(await measured('analytics', 'report', '2xx')).toBe(1)
    expect(await measured('policies', 'external', '2xx')).toBe(0)
    expect(await text()).not.toMatch(/^http_request_seconds_bucket\{.*operation=/m)
  })

  test('measure requests that call other systems without the time of those, too', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    answerOfSystem = () => {
      asked.resolve()
      return answer.promise
    }
    const sampleId = await service.sample(owner, 1)
    const inquiry = owner.client.samples.inquire({ params: { id: sampleId } })
    await asked.promise
    await service.sql('select pg_sleep(0.2)')
    answer.resolve('confirmed')
    await bodyOf(inquiry)
    const of = { noun: 'samples', class: 'external', status: '2xx' }
    const whole = await value('http_request_seconds_sum', of)
    const own = await value('http_request_own_seconds_sum', { noun: 'samples' })
    expect(await value('http_request_own_seconds_count', { noun: 'samples' })).toBe(1)
    expect(own).toBeGreaterThan(0)
    expect(whole - own).toBeGreaterThan(0.19)
  })

  test('show how long work has waited for Temporal', async () => {
    expect(await value('outbox_oldest_seconds')).toBe(0)
    await service.sql(
      `insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
       values ('outbox_1', 'customer_1', 'test', 'intent', false, 'intent/1', '{}', now() - interval '1 hour', now())`,
    )
    expect(await value('outbox_oldest_seconds')).toBeGreaterThanOrEqual(3_600)
    await service.sql('delete from outbox')
    expect(await value('outbox_oldest_seconds')).toBe(0)
  })

  test('show how long webhooks have been overdue, and how many wait', async () => {
    const { client } = await service.owner()
    const { id } = await aWebhook(client, { events: ['agent.created'] })
    const metrics = async () => [
      await value('webhook_overdue_seconds'),
      await value('webhook_deliveries', { state: 'pending' }),
      await value('webhook_deliveries', { state: 'dead' }),
      await value('webhook_subscriptions_paused'),
    ]
    expect(await metrics()).toEqual([0, 0, 0, 0])
    const overdue = async () => {
      const { checks } = await bodyOf(service.client().health.health({}))
      return Math.round(checks.deliveries.oldestSeconds ?? -1)
    }
    await anAgent(client)
    await anAgent(client)
    await service.sql(`select pg_sleep(1)`)
    expect(await overdue()).toBeGreaterThan(0)
    await storeDeliveries(service)
    const change = (members: string) => service.sql(`update deliveries set ${members}`)
    await change(`due_at = now() - interval '1 hour'`)
    expect(await metrics()).toEqual([expect.closeTo(3_600, -2), 2, 0, 0])
    expect(await overdue()).toBeCloseTo(3_600, -2)
    await change(`leased_until = now() - interval '1 minute'`)
    expect(await overdue()).toBeCloseTo(60, -2)
    await change(`leased_until = now() + interval '1 minute'`)
    expect(await overdue()).toBe(-1)
    await change(`status = 'dead', due_at = null, leased_until = null`)
    await service.sql(
      `update webhooks set failures = 3, failing_since = now(), paused_until = now() + interval '1 minute' where id = $1`,
      [id],
    )
    expect(await metrics()).toEqual([0, 0, 2, 1])
    await change(`status = 'pending', due_at = now() - interval '1 hour'`)
    expect(await metrics()).toEqual([0, 2, 0, 1])
    await bodyOf(client.webhooks.delete({ params: { id } }))
  })

  test('show how far each follower of the payments is behind', async () => {
    const behind = (follower: string) => value('follower_behind_seconds', { follower })
    await anAgent(owner.client)
    for (const [follower, table] of Object.entries({ audit: 'audit_sealing', spend: 'spend_position' })) {
      await service.sql(`update ${table} set written_in = 9000000000000000000`)
      expect(await behind(follower)).toBe(0)
      await service.sql(`update ${table} set written_in = 0`)
      const first = await behind(follower)
      expect(first).toBeGreaterThan(0)
      expect(await behind(follower)).toBeGreaterThan(first)
    }
    expect(await behind('deadlines')).toBe(0)
    await service.sql(
      `insert into deadlines values ('transfers', 'live', now() - interval '1 hour', 'customer_1', 'transfer_1')`,
    )
    expect(await behind('deadlines')).toBeCloseTo(3_600, -2)
    await service.sql('delete from deadlines')
    expect(await text()).not.toContain('follower="replica"')
  })

  test('show for how long live money of each kind has had no outcome', async () => {
    const oldest = (kind: string) => value('doubtful_money_oldest_seconds', { kind })
    expect([await oldest('transfer'), await oldest('sepa_file')]).toEqual([0, 0])
    for (const [mode, hours] of Object.entries({ test: 5, live: 2 }))
      await service.sql(
        `insert into doubtful_money select 'customer_1', $1, now() - make_interval(hours => n), 'transfer_' || n, 'transfer', 5
         from generate_series(1, $2::int) n`,
        [mode, hours],
      )
    expect(await oldest('transfer')).toBeCloseTo(7_200, -2)
    expect(await oldest('charge')).toBe(0)
    await service.sql('delete from doubtful_money')
  })

  test('contain no unknown address, no id and no client address', async () => {
    const { key } = await aKey(owner.client)
    await service.http('GET', '/somewhere/else')
    await service.http('GET', `/agents/agent_made_up`, { token: String(key) })
    const metrics = await text()
    for (const word of ['somewhere', 'made_up', owner.ownerId, String(key), '127.0.0.1'])
      expect(metrics).not.toContain(word)
    expect(await servedCount('none', 404)).toBeGreaterThan(0)
  })

  test('show the sizes of batches and their round trips', async () => {
    const sampleId = await service.sample(owner, 100)
    await times(66, () => owner.client.samples.withdraw({ params: { id: sampleId }, body: { amount: 1 } }))
    const of = { operation: 'samples.withdraw' }
    const batches = await value('batch_size_count', of)
    expect(await value('batch_size_sum', of)).toBe(66)
    expect(batches).toBeLessThan(66)
    expect(await value('batch_round_trips_sum', of)).toBe(6 * batches)
  })

  test('show the use of the connection pool', async () => {
    const states = await Promise.all(
      ['busy', 'idle', 'waited_for'].map(state => value('database_pool_connections', { state })),
    )
    expect(states.every(Number.isInteger)).toBe(true)
  })
})
