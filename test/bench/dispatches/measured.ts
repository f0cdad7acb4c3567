import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import type pg from 'pg'
import { until } from '../../support/until.ts'
import { AGENTS, fillAgents } from '../database/intent-rows.ts'
import { quantiles } from '../quantiles.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage, withClient } from '../stage.ts'
import type { Engine } from '../temporal.ts'
import type { oneAfterTheOther } from './workflow.ts'

/** Well beyond the first twenty tasks, which no default of the server holds back. */
const RUNS = usualOrShort(40, 5)
const IN_A_ROW = 5
const QUIET = new DefaultLogger('WARN')

/**
 * Measures what one dispatch of Temporal takes on a quiet machine, one after the other: activities that do nothing, the way
 * from an operator's signal to the decision in PostgreSQL, and that from an update to its answer.
 */
export async function measureDispatches(stage: Stage, engine: Engine): Promise<Section> {
  Runtime.install({ logger: QUIET })
  const { runMs, activityMs } = await activitiesOneAfterTheOther(engine)
  const { decidedMs, answeredMs } = await operatorsDecisions(stage, engine)
  const rows = Object.entries({
    'an activity and the workflow task after it': activityMs,
    [`a run of ${IN_A_ROW} activities, from start to result`]: runMs,
    'signal → decision recorded': decidedMs,
    'update → its answer': answeredMs,
  })
  const figures = Object.fromEntries(rows.map(([what, times]) => [what, quantiles(times)]))
  const text = [
    tableLine(['one after the other', 'p50', 'p99']),
    ...Object.entries(figures).map(([what, { p50, p99 }]) =>
      tableLine([what, `${p50.toFixed(0)} ms`, `${p99.toFixed(0)} ms`]),
    ),
  ].join('\n')
  return { figures: { dispatches: figures }, text }
}

async function activitiesOneAfterTheOther({ address, client }: Engine) {
  const taskQueue = `dispatches-${randomUUID()}`
  const connection = await NativeConnection.connect({ address })
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
    logger: QUIET,
  })
  const activities = { nothing: async () => undefined }
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities })
  const runMs: number[] = []
  const activityMs: number[] = []
  await worker.runUntil(async () => {
    for (let run = 0; run < RUNS; run++) {
      const began = performance.now()
      const took = await client.workflow.execute<typeof oneAfterTheOther>('oneAfterTheOther', {
        ...{ taskQueue, workflowId: `${taskQueue}/${run}` },
        args: [IN_A_ROW],
      })
      runMs.push(performance.now() - began)
      activityMs.push(...took)
    }
  })
  await connection.close()
  return { runMs, activityMs }
}

async function operatorsDecisions(stage: Stage, engine: Engine) {
  await fillAgents(stage)
  await Promise.all([engine.run('relay'), engine.run('worker')])
  return withClient(stage, async database => {
    const decidedMs: number[] = []
    const answeredMs: number[] = []
    for (let n = 0; n < RUNS; n++) {
      decidedMs.push(await decideBySignal(await waitingRun(stage, engine, n), database))
      answeredMs.push(await answerToUpdate(await waitingRun(stage, engine, n)))
    }
    return { decidedMs, answeredMs }
  })
}

/** The run of an intent that waits for its approval. */
async function waitingRun(stage: Stage, { client }: Engine, n: number): Promise<WorkflowHandle> {
  const what = { amountEuros: 75, merchant: 'Bookshop', purpose: 'A shelf', expiresInMinutes: 60 }
  const agentId = `agent_bench_${1 + (n % AGENTS)}`
  const intent = await post(stage.api, '/intents', { agentId, ...what }, bearer(stage))
  const run = client.workflow.getHandle(String(intent.workflowId))
  await until(`${run.workflowId} waits`, () => run.query('state').catch(() => undefined))
  return run
}

const FINE = { by: 'Ada', reason: 'fine' }

async function decideBySignal(run: WorkflowHandle, database: pg.Client): Promise<number> {
  const id = run.workflowId.split('/')[1]
  const began = performance.now()
  await run.signal('approve', FINE)
  for (;;) {
    const { rows } = await database.query('select status from intents where id = $1', [id])
    if (rows[0].status === 'approved') return performance.now() - began
  }
}

async function answerToUpdate(run: WorkflowHandle): Promise<number> {
  const began = performance.now()
  await run.executeUpdate('approve', { args: [FINE] })
  return performance.now() - began
}
