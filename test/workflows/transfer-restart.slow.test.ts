import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { startOutboxRelay } from '../../src/app/relay-service.ts'
import { openRuntime, type Stoppable } from '../../src/app/runtime.ts'
import { startTemporalWorker } from '../../src/app/worker-service.ts'
import { readSettings } from '../../src/platform/settings/settings.ts'
import { recordingRail } from '../support/commerce/rail.ts'
import { aSepaTransfer, bodyOf } from '../support/factories.ts'
import { secretSettings, startTestService } from '../support/harness.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

// The server waits some seconds for a lost worker before it asks another one.
const rail = recordingRail()
const outside = { sepaRail: () => rail.rail }
const service = await startTestService({ outside })
const temporal = await runViewer()
const access = temporalOfRun()

const runtime = await openRuntime({
  settings: {
    ...readSettings({ LOG_LEVEL: 'silent', DATABASE_POOL: '10' }),
    ...secretSettings,
    databaseUrl: service.databaseUrl,
  },
  shared: true,
  outside,
})
const relay = startOutboxRelay(runtime, access)
let worker: Stoppable = startTemporalWorker(runtime, access)
const stopped: Promise<void>[] = []

/** The old worker finishes its tasks while the new one takes over. */
function restart(): void {
  stopped.push(worker.stop())
  worker = startTemporalWorker(runtime, access)
}

afterEach(() => rail.restore())

afterAll(async () => {
  await Promise.all([...stopped, worker.stop(), relay.stop()])
  await runtime.database.close()
})

describe('a restart of the worker', () => {
  test.each(['verifyPayee', 'submit', 'statusOf'] as const)(
    'during %s lets the transfer complete, submitted once',
    async method => {
      const { client } = await service.owner()
      let restarted = false
      rail.meanwhile(method, async () => {
        if (!restarted) restart()
        restarted = true
      })
      const transfer = await aSepaTransfer(client, { amountEuros: 777.05, scheme: 'sct_inst' })
      const get = () => bodyOf(client.transfers.get({ params: { id: transfer.id } }))
      await until('it is in doubt', async () => (await get()).reason?.code === 'indeterminate')
      await bodyOf(client.sandbox.advance({ body: { seconds: 10 } }))
      expect(await temporal.of(transfer).untilEnded()).toBe('completed')
      expect([rail.count('submit', transfer.id), rail.acceptedCount(transfer.id)]).toEqual([1, 1])
      await expectVerifiedLedger(client)
    },
  )

  test('while the run waits for a person does not lose the signal', async () => {
    const { client } = await service.owner()
    const transfer = await aSepaTransfer(client, { name: 'Close Adler GmbH' })
    const run = temporal.of(transfer)
    await run.untilBegun()
    await run.untilDetails('waits for confirmPayee')
    restart()
    await run.signal('confirmPayee', { by: 'Ada' })
    expect(await run.untilEnded()).toBe('completed')
    expect(rail.count('verifyPayee', transfer.id)).toBe(1)
    expect(rail.count('submit', transfer.id)).toBe(1)
  })
})
