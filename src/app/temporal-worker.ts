import { type NativeConnection, Worker } from '@temporalio/worker'
import { agentActivities } from '../../activities/agents.ts'
import { intentActivities } from '../../activities/intents.ts'
import { statementActivities } from '../../activities/statements.ts'
import { runner } from '../../activities/support.ts'
import { transferActivities } from '../../activities/transfers.ts'
import { webhookActivities } from '../../activities/webhooks.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { offsetOf } from '../kernel/database/tenant-clock.ts'
import { lastRequestOf } from '../kernel/journal/last-request.ts'
import { monthsDue } from '../money/statements/index.ts'
import { legible } from '../platform/temporal/payloads.ts'
import type { OpenRuntime } from './runtime.ts'
import type { TemporalAccess } from './temporal-access.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** Idle workflows that are kept in memory; the rest is replayed when it is needed. */
const CACHED = 500

export interface RunningWorker {
  /** Rejects where it could not go on. */
  readonly ended: Promise<void>
  /** Takes nothing more and finishes what is under way. */
  stop(): Promise<void>
}

/** Carries out the durable processes: their order and time by Temporal, their effects by the operations of the API. */
export async function startWorker(
  { execute, operations, database, settings, log }: OpenRuntime,
  connection: NativeConnection,
  { namespace, taskQueue }: Pick<TemporalAccess, 'namespace' | 'taskQueue'>,
): Promise<RunningWorker> {
  const sql = sqlOn(database.pool)
  const run = runner({
    ...{ execute, operations },
    offsetOf: tenant => offsetOf(sql, tenant),
    causeOf: (tenant, id) => lastRequestOf(sql, tenant, id),
    onFailure: (error, operation) => log.warn({ err: error, operation }, 'a process has to try again'),
  })
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await workflowBundle(),
    dataConverter: { payloadCodecs: [legible] },
    activities: {
      ...agentActivities(run),
      ...intentActivities(run, settings),
      ...statementActivities(run, of => monthsDue(sql, of)),
      ...transferActivities(run, settings),
      ...webhookActivities(run),
    },
    maxCachedWorkflows: CACHED,
    // So long the runs of a worker that has died wait for it before another one takes them.
    stickyQueueScheduleToStartTimeout: '2 seconds',
    maxConcurrentActivityTaskExecutions: settings.databasePool,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    shutdownGraceTime: '5 seconds',
  })
  const ended = worker.run()
  return {
    ended,
    async stop() {
      worker.shutdown()
      await ended
    },
  }
}
