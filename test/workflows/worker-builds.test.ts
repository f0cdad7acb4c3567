import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals'
import { QueryNotRegisteredError } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
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
import { currentBuild, endLostRuns, goneBuilds } from '../../src/platform/temporal/builds.ts'
import { clock } from '../../src/values/clock.ts'
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
async function workersOf(buildId: string, bundle: WorkflowBundleOption, rounds = {}) {
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
  const keeping = keepABuildCurrent({ log: console as never }, connection, build(buildId), rounds)
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
  untilCurrent(connection, build(buildId), { signal: AbortSignal.timeout(20_000) })

async function begun(process: 'intent' | 'webhook'): Promise<RunView> {
  const id = newId('record')
  const ref = { id, ownerId: newId('customer'), mode: 'test', agentId: null }
  const workflowId = `${process}/${id}`
  await client.workflow.start(process, { workflowId, taskQueue, args: [ref] })
  return of({ workflowId })
}

/** Undefined until the workflow has come to the line that answers the query. */
const stateOf = (run: RunView) =>
  run.state().catch((error: unknown) => {
    if (error instanceof QueryNotRegisteredError) return undefined
    throw error
  })

const isReadBy = (run: RunView, buildId: string) =>
  until(`it is read by ${buildId}`, async () => (await stateOf(run))?.status === buildId)

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
    const service = client.workflowService
    const deployment = { namespace, deploymentName: taskQueue, taskQueue }
    const atOnce = goneBuilds(service, { namespace, taskQueue, goneAfterMs: 0 })
    await stopOne()
    expect(await endLostRuns(client, { ...deployment, gone: goneBuilds(service, deployment) })).toEqual([])
    const ofOtherQueue = { ...deployment, taskQueue: `${taskQueue}-2`, gone: atOnce }
    expect(await endLostRuns(client, ofOtherQueue)).toEqual([])
    expect(await endLostRuns(client, { ...deployment, gone: atOnce })).toHaveLength(3)
    for (const run of lost) expect(await run.status()).toBe('TERMINATED')
    await goesOnWith(webhook, 'two')
    await goesOnWith(before[0], 'two')
  })

  test('of which two are made current at once: one wins, and the other job says so', async () => {
    await workersOf('five', released)
    await workersOf('six', changed)
    await makeCurrent('five')
    await makeCurrent('six')
    const looked = Promise.withResolvers<void>()
    const workflowService = Object.assign(Object.create(connection.workflowService), {
      describeWorkerDeployment: async (asked: object) => {
        const answer = await connection.workflowService.describeWorkerDeployment(asked)
        looked.resolve()
        return answer
      },
    })
    const signal = AbortSignal.timeout(60_000)
    const late = untilCurrent({ workflowService }, build('seven'), { signal })
    await looked.promise
    await makeCurrent('five')
    await workersOf('seven', changed)
    expect(await late).toBe('The build five has become current meanwhile.')
    expect(await isCurrent('five')).toBe(true)
    await makeCurrent('seven')
    expect(await isCurrent('seven')).toBe(true)
  })

  test('take over from a current build without workers', async () => {
    const stopThree = await workersOf('three', released)
    await makeCurrent('three')
    const intent = await begun('intent')
    await isReadBy(intent, 'three')
    await stopThree()
    await workersOf('four', changed, { everyMs: 50, goneAfterMs: 100 })
    await until('the build with workers is current', () => isCurrent('four'))
    await goesOnWith(intent, 'four')
  })
})

describe('a build is gone', () => {
  const AFTER_MS = 180_000
  let asked: number[] | 'down' = []
  const service = {
    async describeTaskQueue() {
      if (asked === 'down') throw new Error('down')
      return {
        pollers: asked.map(ms => ({
          lastAccessTime: msToTs(ms),
          deploymentOptions: { buildId: 'one' },
        })),
      }
    },
  } as never
  afterEach(() => {
    jest.restoreAllMocks()
  })

  const rounds: [string, [ms: number, asked: number[] | 'down', gone: boolean][]][] = [
    [
      'once its workers have long been silent',
      [
        [0, [7, 5], false],
        [AFTER_MS - 1, [7], false],
        [AFTER_MS, [7], true],
      ],
    ],
    [
      'not while one of its workers asks',
      [
        [0, [7], false],
        [AFTER_MS, [8, 7], false],
      ],
    ],
    [
      'not because the list is empty for once',
      [
        [0, [7], false],
        [AFTER_MS, [], false],
        [2 * AFTER_MS, [], true],
      ],
    ],
    [
      'not while Temporal does not answer',
      [
        [0, [], false],
        [1, 'down', false],
        [AFTER_MS, [], false],
      ],
    ],
  ]
  test.each(rounds)('%s', async (_, steps) => {
    const ticks = jest.spyOn(clock, 'ticks')
    const gone = goneBuilds(service, { namespace, taskQueue })
    for (const [ms, now, isGone] of steps) {
      ticks.mockReturnValue(ms)
      asked = now
      const found = gone(Promise.resolve(['one']))
      if (now === 'down') await expect(found).rejects.toThrow('down')
      else expect(await found).toEqual(isGone ? ['one'] : [])
    }
  })
})
