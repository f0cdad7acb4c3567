import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { NativeConnection, Worker } from '@temporalio/worker'
import { endPreviousRuns } from '../../src/app/previous-runs.ts'
import { bundleWorkflows } from '../../src/app/workflow-bundle.ts'
import { installedTemporal } from '../../src/dev/temporal/binary.ts'
import { newId } from '../../src/values/ids.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const access = temporalOfRun()
const { client } = await runViewer()

async function aRun(type: string): Promise<ReturnType<typeof client.workflow.getHandle>> {
  const id = newId('intent')
  const input = { id, ownerId: newId('customer'), mode: 'test', agentId: null }
  const { taskQueue } = access
  return client.workflow.start(type, { taskQueue, workflowId: `${type}/${id}`, args: [input] })
}

const operator = { by: 'Ada', reason: 'fine' }

/** A worker of the version before: it reads an open record, and carries out signals. */
async function whileWorking(work: () => Promise<void>): Promise<void> {
  const connection = await NativeConnection.connect(access.worker)
  const { namespace, taskQueue } = access
  const worker = await Worker.create({
    ...{ connection, namespace, taskQueue },
    workflowBundle: await bundleWorkflows(),
    activities: {
      readIntent: async () => ({ status: 'created', summary: 'It waits', closed: false, dueInMs: 60_000 }),
      decideIntent: async () => 'Signal approve by Ada: done.',
    },
  })
  await worker.runUntil(work)
  await connection.close()
}

const untilListed = (runs: number) =>
  until('all runs are listed', async () => {
    const query = `TaskQueue = '${access.taskQueue}' and ExecutionStatus = 'Running'`
    return (await client.workflow.count(query)).count === runs
  })

const notCarriedOut = (verb: string) => `Not carried out, send it again once the worker runs: ${verb}`

test('the runs of the version before end, and signals that wait in them are listed', async () => {
  const [carriedOut, waiting, silent] = [await aRun('intent'), await aRun('intent'), await aRun('agent')]
  await carriedOut.signal('approve', operator)
  await whileWorking(async () => {
    const isDone = async () =>
      (await carriedOut.fetchHistory()).events?.some(
        ({ activityTaskCompletedEventAttributes }) => activityTaskCompletedEventAttributes,
      )
    await until('the first signal is carried out', isDone)
  })
  await carriedOut.signal('deny', operator)
  await waiting.signal('recordChanged')
  await waiting.signal('approve', operator)
  await waiting.cancel()
  await silent.signal('recordChanged')
  await untilListed(3)

  const lines: string[] = []
  await endPreviousRuns(access, line => void lines.push(line))
  const listed = lines.slice(0, -1)
  expect(lines.at(-1)).toBe(
    'The data is of the version before: 3 open runs are ended. The relay begins them anew.',
  )
  const verbs = [
    `${carriedOut.workflowId} deny`,
    `${waiting.workflowId} approve`,
    `${waiting.workflowId} cancel`,
  ]
  expect(listed.toSorted()).toEqual(verbs.map(notCarriedOut).toSorted())
  const ends = [carriedOut, waiting, silent].map(async run => (await run.describe()).status.name)
  expect(await Promise.all(ends)).toEqual(['TERMINATED', 'TERMINATED', 'TERMINATED'])
})

test('a signal is told before its run ends, and one that comes meanwhile too', async () => {
  const { workflowId, ...run } = await aRun('intent')
  await run.signal('approve', operator)
  await untilListed(1)
  const temporal = String(await installedTemporal({ env: process.env, tell: () => undefined }))
  const deny = ['workflow', 'signal', '--workflow-id', workflowId, '--name', 'deny']
  const lines: string[] = []
  await endPreviousRuns(access, line => {
    // The run takes the signal, as it has not ended, and ends only afterwards: this blocks.
    if (lines.length === 0) execFileSync(temporal, [...deny, '--address', addressOfRun()], { stdio: 'pipe' })
    lines.push(line)
  })
  expect(lines).toEqual([
    notCarriedOut(`${workflowId} approve`),
    notCarriedOut(`${workflowId} deny`),
    'The data is of the version before: 1 open runs are ended. The relay begins them anew.',
  ])
})
