import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { agentActivities } from '../../activities/agents.ts'
import { intentActivities } from '../../activities/intents.ts'
import { runner } from '../../activities/support.ts'
import { sqlOn } from '../kernel/database.ts'
import { offsetOf } from '../kernel/tenant-clock.ts'
import type { TemporalAccess } from './engine.ts'
import type { OpenHouse } from './house.ts'

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url))

/** Idle workflows that are kept in memory; the rest is replayed when it is needed. */
const CACHED = 500

let bundle: ReturnType<typeof bundleWorkflowCode> | undefined

/** Made once in a process. */
function bundled(): ReturnType<typeof bundleWorkflowCode> {
  bundle ??= bundleWorkflowCode({ workflowsPath })
  return bundle
}

export interface RunningWorker {
  /** Takes nothing more and finishes what is under way. */
  stop(): Promise<void>
}

/** Carries out the durable processes: their order and time by Temporal, their effects by the operations of the API. */
export async function startWorker(
  { execute, operations, database, settings }: OpenHouse,
  connection: NativeConnection,
  { namespace, taskQueue }: Pick<TemporalAccess, 'namespace' | 'taskQueue'>,
): Promise<RunningWorker> {
  const sql = sqlOn(database.pool)
  const run = runner({ execute, operations, offsetOf: tenant => offsetOf(sql, tenant) })
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await bundled(),
    activities: { ...agentActivities(run), ...intentActivities(run, settings) },
    maxCachedWorkflows: CACHED,
    maxConcurrentActivityTaskExecutions: settings.databasePool,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    shutdownGraceTime: '5 seconds',
  })
  const running = worker.run()
  return {
    async stop() {
      worker.shutdown()
      await running
    },
  }
}

/** The process has its own way to end: the SDK is not to catch its signals. */
export function quietRuntime(): void {
  Runtime.install({ shutdownSignals: [] })
}
