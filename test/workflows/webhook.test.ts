import { describe, expect, jest, test } from '@jest/globals'
import { delivery } from '../support/delivery/deliveries.ts'
import { answering, startReceiver } from '../support/delivery/receiver.ts'
import { anAgent, aWebhook, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { runs } from '../support/temporal/runs.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/temporal.ts'
import { until } from '../support/until.ts'

// The first run waits for the worker, too.
jest.setTimeout(90_000)

const receiver = await startReceiver()
const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
const service = await startTestService({
  temporal: temporalOfRun(new URL(proxy.url).host),
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', WEBHOOK_RETRY_SECONDS: '1,3600' },
})
const temporal = await runs()

let paths = 0

/** A delivery whose receiver fails so often, and takes it then. */
async function failing(times: number) {
  const { client } = await service.owner()
  const path = `/${++paths}`
  receiver.treat(path, (response, n, received) => answering(n < times ? 500 : 200)(response, n, received))
  const { id } = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
  await anAgent(client)
  const first = await delivery(client, id, one => one.attempts.length >= 1 && one.status !== 'delivering')
  return { client, path, id, first, run: temporal.of(first) }
}

describe('the run of a delivery that has failed', () => {
  test('tries it again when its time has come', async () => {
    const { client, id, path, run } = await failing(1)
    expect(await run.ends()).toBe('delivered')
    expect((await delivery(client, id, one => one.status === 'delivered')).attempts).toHaveLength(2)
    expect(new Set(receiver.at(path).map(({ body }) => body)).size).toBe(1)
  })

  test('tells an operator how it stands, who need not wait', async () => {
    const { client, id, run } = await failing(2)
    await run.begins()
    const said = await run.says(/Attempt 3 is made at/)
    expect(said).toMatch(/agent\.created to webhook_\w+ in test mode: .*answered 500.*1: .* 500; 2: .* 500/)
    await run.signal('retryNow')
    expect(await run.ends()).toBe('delivered')
    expect((await delivery(client, id, one => one.status === 'delivered')).attempts).toHaveLength(3)
    expect(await run.failedTasks()).toBe(0)
  })

  test('goes by the test clock', async () => {
    const { client, id, run } = await failing(2)
    await run.says(/Attempt 3 is made at/)
    await bodyOf(client.sandbox.advance({ body: { minutes: 61 } }))
    expect(await run.ends()).toBe('delivered')
    expect((await delivery(client, id, one => one.status === 'delivered')).attempts).toHaveLength(3)
  })

  test('begins anew with a replay', async () => {
    const { client, id, first, run } = await failing(1)
    expect(await run.ends()).toBe('delivered')
    receiver.treat(`/${paths}`, (response, n, received) =>
      answering(n === 2 ? 500 : 200)(response, n, received),
    )
    await bodyOf(client.webhooks.replay({ params: { id: first.id } }))
    await delivery(client, id, one => one.attempts.length === 4 && one.status === 'delivered')
  })

  test('ends with a subscription that is deleted', async () => {
    const { client, id, run } = await failing(9)
    await run.says(/Attempt 3 is made at/)
    await bodyOf(client.webhooks.delete({ params: { id } }))
    await run.signal('recordChanged')
    expect(await run.ends()).toBe('pending')
  })

  test('begins once Temporal is back; first attempts do not wait for it', async () => {
    await proxy.close()
    const away = await failing(1)
    expect(receiver.at(away.path)).toHaveLength(1)
    const quick = await failing(0)
    expect(quick.first.status).toBe('delivered')
    expect(await away.run.status()).toBeUndefined()
    // Asked before it is there, it is waited for.
    const told = away.run.says(/agent\.created to/)
    await proxy.open()
    expect(await told).toMatch(/answered 500|; 1: \S+ 500;/)
    await until('it is delivered', () => receiver.at(away.path).length === 2, 40_000)
    expect(await away.run.ends()).toBe('delivered')
  })
})
