import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import { keepABuildCurrent, untilCurrent, versionOf } from '../../src/app/worker-build.ts'
import { runWorkers } from '../../src/app/worker-group.ts'
import { workflowBundle } from '../../src/app/workflow-bundle.ts'
import { callsQueueOf, RECORD_CHANGED_SIGNAL, webhooksQueueOf } from '../../src/kernel/contract/process.ts'
import { currentBuild, endLostRuns } from '../../src/platform/temporal/builds.ts'
import { newId } from '../../src/values/ids.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { type RunView, runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const { taskQueue, namespace, worker } = temporalOfRun()
const connection = await NativeConnection.connect(worker)
const { client, of } = await runViewer()
const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  await Promise.all(stops.map(stop => stop()))
  await connection.close()
})

const workflowsPath = join(import.meta.dirname, '../support/changed-webhook/index.ts')
const changed = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
const released = await workflowBundle()

const AN_HOUR = 3_600_000
const waiting = { summary: 'It waits', closed: false, dueInMs: AN_HOUR, deadline: 'later', signals: [] }

const queues = [taskQueue, callsQueueOf(taskQueue), webhooksQueueOf(taskQueue)]
const build = (buildId: string) => ({ namespace, deploymentName: taskQueue, buildId, queues })

/** Workers of a build, whose records say which build has read them. */
async function workersOf(buildId: string, bundle: WorkflowBundleOption) {
  const activities = {
    readIntent: async () => ({ ...waiting, status: buildId, isBeingPaid: false }),
    readDelivery: async () => ({
      ...waiting,
      status: buildId,
      attempt: 2,
      isUnderWay: false,
      isPaused: false,
    }),
  }
  const common = { connection, namespace, activities, ...versionOf(build(buildId)) }
  const workers = await runWorkers([
    { ...common, taskQueue, workflowBundle: bundle },
    ...queues.slice(1).map(queue => ({ ...common, taskQueue: queue })),
  ])
  const keeping = keepABuildCurrent({ log: console as never }, connection, build(buildId))
  const stop = async () => {
    await keeping.stop()
    await workers.stop()
  }
  stops.push(stop)
  return stop
}

const isCurrent = async (buildId: string) =>
  (await currentBuild(connection.workflowService, build(buildId))).buildId === buildId

const makeCurrent = (buildId: string) =>
  untilCurrent(connection, build(buildId), { signal: AbortSignal.timeout(20_000), onlyIfNone: false })

async function begun(process: 'intent' | 'webhook'): Promise<RunView> {
  const id = newId('record')
  const ref = { id, ownerId: newId('customer'), mode: 'test', agentId: null }
  const workflowId = `${process}/${id}`
  await client.workflow.start(process, { workflowId, taskQueue, args: [ref] })
  return of({ workflowId })
}

const isReadBy = (run: RunView, buildId: string) =>
  until(`it is read by ${buildId}`, async () => (await run.state())?.status === buildId)

async function goesOnWith(run: RunView, buildId: string): Promise<void> {
  await run.signal(RECORD_CHANGED_SIGNAL)
  await until(`${buildId} has taken a task`, async () => (await buildsOf(run)).at(-1) === buildId)
  await isReadBy(run, buildId)
  expect(await run.failedTasks()).toBe(0)
}

async function buildsOf({ handle }: RunView): Promise<(string | null | undefined)[]> {
  const { events } = await handle.fetchHistory()
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: done }) =>
    done ? [done.deploymentVersion?.buildId] : [],
  )
}

async function pinnedTo(buildId: string): Promise<string[]> {
  const query = `TemporalWorkerDeploymentVersion = '${taskQueue}:${buildId}' and TemporalWorkflowVersioningBehavior = 'Pinned'`
  const ids: string[] = []
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId)
  return ids
}

describe('workers of several builds', () => {
  test('share the open runs: a delivery stays with its build, an intent goes on with the current one', async () => {
    const stopOne = await workersOf('one', released)
    await until('the first build is current by itself', () => isCurrent('one'))
    const before = [await begun('intent'), await begun('webhook')] as const
    for (const run of before) await isReadBy(run, 'one')

    await workersOf('two', changed)
    const meanwhile = [await begun('intent'), await begun('webhook')] as const
    for (const run of meanwhile) await isReadBy(run, 'one')
    expect(await isCurrent('one')).toBe(true)

    await makeCurrent('two')
    const after = [await begun('intent'), await begun('webhook')] as const
    for (const run of after) await isReadBy(run, 'two')
    for (const [intent, webhook] of [before, meanwhile]) {
      await goesOnWith(intent, 'two')
      await goesOnWith(webhook, 'one')
    }

    await makeCurrent('one')
    await isReadBy(await begun('webhook'), 'one')
    const [intent, webhook] = after
    await goesOnWith(intent, 'one')
    await goesOnWith(webhook, 'two')

    // The older workers are stopped for good.
    await makeCurrent('two')
    const lost = [before[1], meanwhile[1]]
    await until('the list has them', async () => (await pinnedTo('one')).length === 3)
    const deployment = { namespace, deploymentName: taskQueue, taskQueue }
    expect(await endLostRuns(client, deployment)).toEqual([])
    await stopOne()
    const ended = await endLostRuns(client, { ...deployment, goneAfterMs: 0 })
    expect(ended).toHaveLength(3)
    for (const run of lost) expect(await run.status()).toBe('TERMINATED')
    await goesOnWith(webhook, 'two')
    await goesOnWith(before[0], 'two')
  })
})
