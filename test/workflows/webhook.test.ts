import { describe, expect, test } from '@jest/globals'
import { rowOf, whileLocked } from '../support/at-once.ts'
import { deliveriesOf, untilDelivery } from '../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../support/delivery/receiver.ts'
import { anAgent, aWebhook, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const receiver = await startReceiver()
const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
const service = await startTestService({
  temporal: temporalOfRun(new URL(proxy.url).host),
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', WEBHOOK_RETRY_SECONDS: '1,3600' },
})
const temporal = await runViewer()

let paths = 0

async function failingDelivery(times: number) {
  const { client } = await service.owner()
  const path = `/secret-${++paths}`
  receiver.treat(path, (response, n, received) => respondWith(n < times ? 500 : 200)(response, n, received))
  const { id } = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
  await anAgent(client)
  const first = await untilDelivery(
    client,
    id,
    delivery => delivery.attempts.length >= 1 && delivery.status !== 'delivering',
  )
  return { client, path, id, first, run: temporal.of(first) }
}

/** Attempts that deliverers made in place of runs. */
async function rescues(): Promise<number> {
  const headers = { 'x-dashboard-secret': service.dashboardSecret }
  const { text } = await service.http('GET', '/metrics', { headers })
  return Number(/rescues_total\{operation="webhooks\.attempt"\} (\d+)/.exec(text)?.[1])
}

describe('the run of a failed delivery', () => {
  test('tries it again when it is due', async () => {
    const { client, id, path, run } = await failingDelivery(1)
    expect(await run.untilEnded()).toBe('delivered')
    expect(
      (await untilDelivery(client, id, delivery => delivery.status === 'delivered')).attempts,
    ).toHaveLength(2)
    expect(await run.activityNames()).toEqual(['sendAgain'])
    expect(await run.historyLength()).toBeLessThanOrEqual(20)
    expect(await run.attributes()).not.toHaveProperty('AgentPayDeadline')
    expect(new Set(receiver.at(path).map(({ body }) => body)).size).toBe(1)
  })

  test('shows an operator its state, and retries at once on a signal', async () => {
    const { client, id, run } = await failingDelivery(2)
    await run.untilBegun()
    expect(await run.untilDetails(/It waits \*\*for attempt 3 of 3 to 127\.0\.0\.1:\d+ at /)).toMatch(
      /agent\.created to 127\.0\.0\.1:\d+ \(webhook_\w+\) in test mode: .* Attempt 1 at [\w ]+:\d\d UTC: answered 500\. Attempt 2 at [\w ]+:\d\d UTC: answered 500\./,
    )
    expect(await run.timerSummaries()).toEqual([
      expect.stringMatching(/^for attempt 2 of 3 to 127\.0\.0\.1:\d+ at .* UTC$/),
      expect.stringMatching(/^for attempt 3 of 3 to 127\.0\.0\.1:\d+ at .* UTC$/),
    ])
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe(`Webhook delivery of agent.created to ${id}, test`)
    await run.signal('retryNow')
    expect(await run.untilEnded()).toBe('delivered')
    expect(
      (await untilDelivery(client, id, delivery => delivery.status === 'delivered')).attempts,
    ).toHaveLength(3)
    expect(await run.failedTasks()).toBe(0)
    const stored = JSON.stringify(await run.handle.fetchHistory()).replace(/"data":"([^"]+)"/g, (_, data) =>
      Buffer.from(data, 'base64').toString(),
    )
    expect(stored).toContain(new URL(receiver.url).host)
    expect(stored).not.toContain('secret-')
  })

  test('follows the test clock', async () => {
    const { client, id, run } = await failingDelivery(2)
    await run.untilDetails(/for attempt 3/)
    await bodyOf(client.sandbox.advance({ body: { minutes: 61 } }))
    expect(await run.untilEnded()).toBe('delivered')
    expect(
      (await untilDelivery(client, id, delivery => delivery.status === 'delivered')).attempts,
    ).toHaveLength(3)
  })

  test('starts again with a replay', async () => {
    const { client, id, first, run } = await failingDelivery(1)
    expect(await run.untilEnded()).toBe('delivered')
    receiver.treat(`/secret-${paths}`, (response, n, received) =>
      respondWith(n === 2 ? 500 : 200)(response, n, received),
    )
    await bodyOf(client.webhooks.replay({ params: { id: first.id } }))
    await untilDelivery(
      client,
      id,
      delivery => delivery.attempts.length === 4 && delivery.status === 'delivered',
    )
  })

  test('ends when its subscription is deleted', async () => {
    const { client, id, run } = await failingDelivery(9)
    await run.untilDetails(/for attempt 3/)
    await bodyOf(client.webhooks.delete({ params: { id } }))
    await run.signal('recordChanged')
    expect(await run.untilEnded()).toBe('pending')
  })

  test('begins again when its subscription is active again', async () => {
    const { client, id, run } = await failingDelivery(2)
    await run.untilDetails(/for attempt 3/)
    const params = { id }
    await bodyOf(client.webhooks.update({ params, body: { status: 'disabled' } }))
    await run.signal('recordChanged')
    expect(await run.untilEnded()).toBe('pending')
    await bodyOf(client.sandbox.advance({ body: { minutes: 61 } }))
    await bodyOf(client.webhooks.update({ params, body: { status: 'active' } }))
    const delivery = await untilDelivery(client, id, ({ status }) => status === 'delivered')
    expect(delivery.attempts).toHaveLength(3)
    expect(await run.untilEnded()).toBe('delivered')
    expect(await run.activityNames()).toEqual(['sendAgain'])
  })

  /** Its receiver is paused for an hour. */
  async function pausedDelivery() {
    const failing = await failingDelivery(2)
    const { id, run } = failing
    await run.untilDetails(/for attempt 3/)
    await service.sql(
      `update webhooks set failures = 5, failing_since = now(), paused_until = now() + interval '1 hour' where id = $1`,
      [id],
    )
    await service.sql('update deliveries set attempt_at = now(), due_at = $2 where webhook_id = $1', [
      id,
      new Date(Date.now() + 3_630_000),
    ])
    await run.signal('recordChanged')
    await run.untilDetails(/keeps failing and is paused until/)
    return failing
  }

  test('goes on at once when a test of the paused receiver succeeds', async () => {
    const { client, id, run } = await pausedDelivery()
    expect(await bodyOf(client.webhooks.test({ params: { id } }))).toMatchObject({ delivered: true })
    expect(await run.untilEnded()).toBe('delivered')
    expect(await rescues()).toBe(0)
  })

  test('goes on at once, too, where its delivery was held at that moment', async () => {
    const { client, id, first, run } = await pausedDelivery()
    await whileLocked(service, rowOf('deliveries', first.id), async () => {
      expect(await bodyOf(client.webhooks.test({ params: { id } }))).toMatchObject({ delivered: true })
    })
    expect(await run.untilEnded()).toBe('delivered')
    expect(await rescues()).toBe(0)
  })

  test('is one of few where a receiver keeps failing: what waits behind it has none', async () => {
    const { client, id } = await failingDelivery(1_000)
    for (let n = 0; n < 20; n++) await anAgent(client)
    await until('the receiver is paused', async () => {
      const { health } = await bodyOf(client.webhooks.get({ params: { id } }))
      return health.condition === 'paused'
    })
    for (let n = 0; n < 20; n++) await anAgent(client)
    const waiting = await until('all wait', async () => {
      const deliveries = await deliveriesOf(client, id)
      return deliveries.length === 41 && deliveries.every(({ status }) => status === 'pending')
        ? deliveries
        : undefined
    })
    expect(waiting.filter(({ workflowId }) => workflowId !== null).length).toBeLessThanOrEqual(20)
    expect(waiting.slice(0, 20).map(({ workflowId }) => workflowId)).toEqual(Array(20).fill(null))
    receiver.treat(`/secret-${paths}`, respondWith(204))
    expect(await bodyOf(client.webhooks.test({ params: { id } }))).toMatchObject({ delivered: true })
    await until('what has no run is delivered', async () =>
      (await deliveriesOf(client, id)).every(
        ({ status, workflowId }) => workflowId !== null || status === 'delivered',
      ),
    )
  })

  test('that is late is rescued by a deliverer, which is counted; the run then ends', async () => {
    const before = await rescues()
    const { client, id, run } = await failingDelivery(2)
    await run.untilDetails(/for attempt 3/)
    await service.sql(
      `update deliveries set attempt_at = now() - interval '31 seconds', due_at = now() - interval '1 second' where webhook_id = $1`,
      [id],
    )
    await service.sql('notify deliveries')
    await untilDelivery(client, id, ({ status }) => status === 'delivered')
    expect(await rescues()).toBe(before + 1)
    expect(await run.untilEnded()).toBe('delivered')
  })

  test('starts once Temporal is back; first attempts do not wait for it', async () => {
    await proxy.close()
    const delayed = await failingDelivery(1)
    expect(receiver.at(delayed.path)).toHaveLength(1)
    const quick = await failingDelivery(0)
    expect(quick.first.status).toBe('delivered')
    expect(await delayed.run.status()).toBeUndefined()
    // Details requested before the run exists are waited for.
    const details = delayed.run.untilDetails(/agent\.created to/)
    await proxy.open()
    expect(await details).toMatch(/answered 500/)
    await until('it is delivered', () => receiver.at(delayed.path).length === 2)
    expect(await delayed.run.untilEnded()).toBe('delivered')
  })
})
