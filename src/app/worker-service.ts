import { Client } from '@temporalio/client'
import { NativeConnection, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker'
import { recordActivities } from '../../activities/record-activities.ts'
import { operationRunner, type RunOperation } from '../../activities/run-operation.ts'
import { statementActivities } from '../../activities/statements.ts'
import { isRecordProcess, taskQueueOf } from '../kernel/contract/process.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { readClockOffset } from '../kernel/database/tenant-clock.ts'
import { findLastRequest } from '../kernel/journal/last-request.ts'
import { findDueStatementMonths } from '../money/statements/index.ts'
import { kycProviderOf } from '../platform/settings/external-systems.ts'
import { installTemporalRuntime, lenientPayloadCodec } from '../platform/temporal/runtime.ts'
import { recordAddress } from '../surface/console/parts/links.ts'
import { SERVICE_VERSION } from '../surface/health/index.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'
import { ensureSchedules } from './schedules.ts'
import { keepTemporalConnected, type TemporalAccess } from './temporal-access.ts'
import { tracedActivities } from './traced-runs.ts'
import { type RunningWorkers, runWorkers } from './worker-group.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** How many idle workflows stay in memory; the others are replayed when they continue. */
const CACHED = 500

/** Most of them wait for their turn: see `SystemTurns`. A call holds no database connection. */
const CALLS_AND_WAITING = 500

interface WorkerPlace extends Pick<TemporalAccess, 'namespace' | 'taskQueue'> {
  readonly stopping: AbortSignal
}

/** Runs the workflows. Temporal keeps their order and timers; all effects are operations of the API. */
async function startWorker(
  { areas, execute, operations, database, ports, settings, log, turns }: OpenRuntime,
  connection: NativeConnection,
  { namespace, taskQueue, stopping }: WorkerPlace,
): Promise<RunningWorkers> {
  const sql = sqlOn(database.pool)
  const run = operationRunner({
    execute,
    operations,
    turns,
    offsetOf: tenant => readClockOffset(sql, tenant),
    causeOf: (tenant, id) => findLastRequest(sql, tenant, id),
    onFailure: (error, operation) => log.warn({ err: error, operation }, 'a process has to try again'),
  })
  const bundle = await workflowBundle()
  stopping.throwIfAborted()
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    dataConverter: { payloadCodecs: [lenientPayloadCodec] },
    activities: {
      ...allRecordActivities(areas, run, settings),
      ...statementActivities(run, of => findDueStatementMonths(sql, of)),
    },
    ...(ports.systems.tracing && { interceptors: { activity: [tracedActivities(ports.systems.tracing)] } }),
    // Each task's events name it. The SDK's own is a hundred characters.
    buildId: SERVICE_VERSION,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    shutdownGraceTime: '5 seconds',
  }
  const queues = queuesOf(taskQueue, bundle, settings.databasePool)
  return runWorkers(queues.map(queue => ({ ...common, ...queue })))
}

/** Activities on PostgreSQL alone, calls to other systems, and webhooks have a queue and slots each. */
const queuesOf = (
  taskQueue: string,
  workflowBundle: WorkflowBundleOption,
  slots: number,
): WorkerOptions[] => [
  {
    taskQueue,
    workflowBundle,
    maxCachedWorkflows: CACHED,
    // How long the runs of a dead worker wait for it before another worker takes them over.
    stickyQueueScheduleToStartTimeout: '2 seconds',
    maxConcurrentActivityTaskExecutions: slots,
    maxConcurrentLocalActivityExecutions: slots,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
  },
  {
    taskQueue: taskQueueOf(taskQueue, { callsOutside: true }),
    maxConcurrentActivityTaskExecutions: CALLS_AND_WAITING,
  },
  {
    taskQueue: taskQueueOf(taskQueue, { untilClosed: true }),
    maxConcurrentActivityTaskExecutions: slots,
  },
]

function allRecordActivities(
  areas: OpenRuntime['areas'],
  run: RunOperation,
  settings: OpenRuntime['settings'],
): object {
  const records = Object.values(areas).flatMap(({ openRecords }) => openRecords)
  const processes = records.map(({ process }) => process).filter(isRecordProcess)
  // Outside the sandbox companies are real, and an onboarding of test mode opens live keys too.
  const isReal = kycProviderOf(settings) !== 'sandbox'
  const activities = processes.map(process =>
    recordActivities(process, run, {
      operatorSignals: settings.operatorSignals,
      openLiveMoney: isReal && process.opensLiveMoney === true,
      pageOf: id => pageOf(settings.publicUrl, id),
    }),
  )
  return Object.assign({}, ...activities)
}

function pageOf(publicUrl: string | undefined, id: string): string | undefined {
  const address = recordAddress(id)
  return publicUrl && address ? `${publicUrl.replace(/\/$/, '')}/${address}` : undefined
}

/** Starts a worker. It has a file of its own because a relay does not need the worker's large SDK. */
export function startTemporalWorker(runtime: OpenRuntime, access: TemporalAccess): Stoppable {
  installTemporalRuntime(runtime.log)
  return keepTemporalConnected(runtime, 'worker', async stopping => {
    const connection = await NativeConnection.connect(access.worker)
    try {
      await ensureSchedules(new Client({ connection, namespace: access.namespace }), access.taskQueue)
      const worker = await startWorker(runtime, connection, { ...access, stopping })
      const ended = worker.ended.finally(() => connection.close())
      return { ended, stop: worker.stop }
    } catch (error) {
      await connection.close()
      throw error
    }
  })
}
