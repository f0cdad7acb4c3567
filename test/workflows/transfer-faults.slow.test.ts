import { afterEach, describe, expect, test } from '@jest/globals'
import { recordingRail } from '../support/commerce/rail.ts'
import { aSepaTransfer, bodyOf, type TestClient } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
const rail = recordingRail()
const service = await startTestService({
  temporal: temporalOfRun(new URL(proxy.url).host),
  outside: { sepaRail: () => rail.rail },
})
const temporal = await runViewer()

afterEach(() => rail.restore())

const get = (client: TestClient, id: string) => bodyOf(client.transfers.get({ params: { id } }))

const untilTemporalIs = (state: 'ok' | 'unreachable') =>
  until(
    `Temporal is ${state}`,
    async () => (await bodyOf(service.client().health.health())).checks.temporal === state,
  )

describe('a bank that fails while the run continues', () => {
  test.each([
    ['before', 'rejected', 0],
    ['after', 'completed', 1],
    ['late', 'completed', 1],
  ] as const)(
    'with the fault “%s” at an instant submission ends it as %s, submitted once',
    async (fault, status, accepted) => {
      const { client } = await service.owner()
      rail.break('submit', fault, 1)
      const transfer = await aSepaTransfer(client, { scheme: 'sct_inst' })
      const run = temporal.of(transfer)
      await run.untilBegun()
      await until('it is submitted', async () => (await get(client, transfer.id)).status === 'submitted')
      await until('the rail was called', () => rail.count('submit', transfer.id) > 0)
      await bodyOf(client.sandbox.advance({ body: { seconds: 10 } }))
      expect(await run.untilEnded()).toBe(status)
      expect([rail.count('submit', transfer.id), rail.acceptedCount(transfer.id)]).toEqual([1, accepted])
      await expectVerifiedLedger(client)
    },
  )

  test('at the verification and at every inquiry is asked again until it answers', async () => {
    const { client } = await service.owner()
    rail.break('verifyPayee', 'before', 3)
    rail.break('submit', 'after', 1)
    rail.break('statusOf', 'before', 2)
    const transfer = await aSepaTransfer(client)
    const run = temporal.of(transfer)
    await run.untilBegun()
    for (const asked of [1, 2, 3]) {
      await until('the payee’s bank is asked', () => rail.count('verifyPayee', transfer.id) >= asked)
      await bodyOf(client.sandbox.advance({ body: { seconds: 15 } }))
    }
    await until('it is submitted', async () => (await get(client, transfer.id)).status === 'submitted')
    await until('the rail was called', () => rail.count('submit', transfer.id) > 0)
    for (const minutes of [1, 5, 30]) await bodyOf(client.sandbox.advance({ body: { minutes } }))
    expect(await run.untilEnded()).toBe('completed')
    expect([rail.count('submit', transfer.id), rail.acceptedCount(transfer.id)]).toEqual([1, 1])
    await expectVerifiedLedger(client)
  })
})

describe('an outage of Temporal', () => {
  test('delays a transfer, which is carried out afterwards', async () => {
    const { client } = await service.owner()
    await proxy.close()
    await untilTemporalIs('unreachable')
    const transfer = await aSepaTransfer(client)
    expect((await get(client, transfer.id)).status).toBe('created')
    await proxy.open()
    expect(await temporal.of(transfer).untilEnded()).toBe('completed')
    expect(rail.count('submit', transfer.id)).toBe(1)
    await expectVerifiedLedger(client)
  })

  test('longer than a minute does not delay a transfer any further', async () => {
    const { client } = await service.owner()
    await proxy.close()
    await untilTemporalIs('unreachable')
    const [paid, waiting] = [
      await aSepaTransfer(client),
      await aSepaTransfer(client, { name: 'No Match GmbH' }),
    ]
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await get(client, paid.id)).status).toBe('completed')
    await bodyOf(client.transfers.confirmPayee({ params: { id: waiting.id }, body: {} }))
    await proxy.open()
    for (const transfer of [paid, waiting]) {
      expect(await temporal.of(transfer).untilEnded()).toBe('completed')
      expect([rail.count('submit', transfer.id), rail.acceptedCount(transfer.id)]).toEqual([1, 1])
    }
    await expectVerifiedLedger(client)
  })
})
