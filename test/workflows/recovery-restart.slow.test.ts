import { afterAll, describe, expect, test } from '@jest/globals'
import { startOutboxRelay } from '../../src/app/relay-service.ts'
import { openRuntime, type Stoppable } from '../../src/app/runtime.ts'
import { startTemporalWorker } from '../../src/app/worker-service.ts'
import { readSettings } from '../../src/platform/settings/settings.ts'
import { bodyOf } from '../support/factories.ts'
import { secretSettings, startTestService } from '../support/harness.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'

// The server waits some seconds for a lost worker before it asks another one.
const service = await startTestService({ own: true })
const temporal = await runViewer()
const access = temporalOfRun()

const runtime = await openRuntime({
  settings: {
    ...readSettings({ LOG_LEVEL: 'silent', DATABASE_POOL: '10' }),
    ...secretSettings,
    databaseUrl: service.databaseUrl,
  },
  shared: true,
})
const relay = startOutboxRelay(runtime, access)
let worker: Stoppable | undefined = startTemporalWorker(runtime, access)

async function stopWorker(): Promise<void> {
  await worker?.stop()
  worker = undefined
}

const startWorker = () => {
  worker = startTemporalWorker(runtime, access)
}

afterAll(async () => {
  await Promise.all([worker?.stop(), relay.stop()])
  await runtime.database.close()
})

async function underWay() {
  const { client } = await service.owner()
  const { id } = await bodyOf(client.people.create({ body: { name: 'Grace Hopper', role: 'owner' } }))
  const params = { id }
  const { recovery } = await bodyOf(service.dash.people.recover({ params }))
  const run = temporal.of({ workflowId: String(recovery?.workflowId) })
  const told = async () =>
    (await bodyOf(client.events.list())).data
      .map(({ event }) => event)
      .filter(event => /^person\.(recovery|updated)/.test(event))
  return { client, params, run, told }
}

describe('a recovery without a worker', () => {
  test('becomes ready in time all the same, once, and its run goes on with the next worker', async () => {
    const { client, params, run, told } = await underWay()
    await run.untilDetails('for the 24 hours in which it can be stopped')
    await stopWorker()
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect((await bodyOf(client.people.get({ params }))).recovery?.status).toBe('ready')
    startWorker()
    await run.untilDetails('link to be opened')
    expect(await told()).toEqual(['person.updated', 'person.recovery_started'])
    expect(await run.failedTasks()).toBe(0)
  })

  test('is stopped at once, and its run ends with the next worker', async () => {
    const { client, params, run, told } = await underWay()
    await run.untilDetails('for the 24 hours in which it can be stopped')
    await stopWorker()
    await bodyOf(client.people.stopRecovery({ params }))
    expect((await service.dash.people.link({ params })).code).toBe('recovery_not_ready')
    startWorker()
    expect(await run.untilEnded()).toBe('stopped')
    expect(await told()).toEqual(['person.recovery_stopped', 'person.recovery_started'])
  })

  test('that nobody has followed from its beginning has a run as soon as there is one', async () => {
    await stopWorker()
    const { client, params, run } = await underWay()
    await bodyOf(client.sandbox.advance({ body: { days: 8 } }))
    expect((await bodyOf(client.people.get({ params }))).recovery).toBeNull()
    startWorker()
    expect(await run.untilEnded()).toBe('expired')
  })
})
