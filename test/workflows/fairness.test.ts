import { afterAll, describe, expect, test } from '@jest/globals'
import { NativeConnection, Worker } from '@temporalio/worker'
import { workflowBundle } from '../../src/app/workflow-bundle.ts'
import { intentProcess } from '../../src/control/intents/process.ts'
import type { ProcessInput, ProcessStatus } from '../../src/kernel/contract/process.ts'
import { statementsProcess } from '../../src/money/statements/process.ts'
import { workflowStartOptions } from '../../src/platform/temporal/starter.ts'
import { newId } from '../../src/values/ids.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { temporalClient } from '../support/temporal/temporal.ts'
import { until } from '../support/until.ts'

const client = await temporalClient()
const { taskQueue, namespace, worker } = temporalOfRun()
const connection = await NativeConnection.connect(worker)

const status = (dueInMs: number | null): ProcessStatus => ({
  status: dueInMs === null ? 'expired' : 'created',
  summary: 'Intent in test mode',
  closed: dueInMs === null,
  dueInMs,
})

/** Takes the workflow tasks only, so that activities wait for `acting`. */
const waiting = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowBundle: await workflowBundle(),
  activities: { readIntent: async () => status(0) },
  enableNonLocalActivities: false,
})
const running = waiting.run()
afterAll(async () => {
  waiting.shutdown()
  await running
  await connection.close()
})

const anOwner = () => newId('customer')

/** Runs of this owner, each of which wants to take a step. They wait for a worker that can. */
async function want(process: typeof intentProcess | typeof statementsProcess, ownerId: string, count = 1) {
  const runs = await Promise.all(
    Array.from({ length: count }, () => {
      const input: ProcessInput = { id: newId('intent'), ownerId, mode: 'test', agentId: null }
      const options = { ...workflowStartOptions(process, input), workflowId: `${process.name}/${input.id}` }
      return client.workflow.start(process.name, { ...options, taskQueue })
    }),
  )
  for (const run of runs)
    await until(`${run.workflowId} wants to act`, async () => {
      const { raw } = await run.describe()
      return (raw.pendingActivities ?? []).length > 0
    })
  return runs
}

/** A worker takes their steps one at a time; returns whose they were, in order. */
async function taken(runs: readonly { result(): Promise<unknown> }[]): Promise<string[]> {
  const order: string[] = []
  const acting = await Worker.create({
    connection,
    namespace,
    taskQueue,
    maxConcurrentActivityTaskExecutions: 1,
    activities: {
      async expireIntent({ ownerId }: ProcessInput) {
        order.push(ownerId)
        return status(null)
      },
      async closeMonths() {
        order.push('a report')
        return { made: 0, next: null }
      },
    },
  })
  await acting.runUntil(Promise.all(runs.map(run => run.result())))
  return order
}

describe('runs that want to act while the workers are busy', () => {
  test('take turns by owner: one owner with many delays another’s by its share', async () => {
    const [many, few] = [anOwner(), anOwner()]
    const runs = [...(await want(intentProcess, many, 100)), ...(await want(intentProcess, few, 2))]
    const order = await taken(runs)
    expect(order).toHaveLength(102)
    expect(order.lastIndexOf(few)).toBeLessThan(10)
  })

  test('come before reports, also if they are later', async () => {
    const owner = anOwner()
    const runs = [...(await want(statementsProcess, owner, 10)), ...(await want(intentProcess, owner, 2))]
    const order = await taken(runs)
    expect(order).toHaveLength(12)
    // The server may have handed out one task before.
    expect(order.lastIndexOf(owner)).toBeLessThan(4)
  })

  test('have the owner as their key', async () => {
    const owner = anOwner()
    const [intent, report] = [
      ...(await want(intentProcess, owner)),
      ...(await want(statementsProcess, owner)),
    ]
    expect((await intent?.describe())?.priority).toMatchObject({ fairnessKey: owner })
    expect((await report?.describe())?.priority).toMatchObject({ fairnessKey: owner, priorityKey: 4 })
    await Promise.all([intent, report].map(run => run?.terminate()))
  })
})
