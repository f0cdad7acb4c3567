import { describe, expect, test } from '@jest/globals'
import { untilDelivery } from '../support/delivery/deliveries.ts'
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
  const path = `/${++paths}`
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
    expect(await run.untilDetails(/It waits \*\*for attempt 3, at /)).toMatch(
      /agent\.created to webhook_\w+ in test mode: .*answered 500.*1: .* 500; 2: .* 500/,
    )
    expect(await run.timerSummaries()).toEqual([
      expect.stringMatching(/^for attempt 2, at .* UTC$/),
      expect.stringMatching(/^for attempt 3, at .* UTC$/),
    ])
    await run.signal('retryNow')
    expect(await run.untilEnded()).toBe('delivered')
    expect(
      (await untilDelivery(client, id, delivery => delivery.status === 'delivered')).attempts,
    ).toHaveLength(3)
    expect(await run.failedTasks()).toBe(0)
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
    receiver.treat(`/${paths}`, (response, n, received) =>
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
    expect(await details).toMatch(/answered 500|; 1: \S+ 500;/)
    await until('it is delivered', () => receiver.at(delayed.path).length === 2)
    expect(await delayed.run.untilEnded()).toBe('delivered')
  })
})
