import { activityInfo, type Context, cancellationSignal } from '@temporalio/activity'
import { Client } from '@temporalio/client'
import { CancelledFailure } from '@temporalio/common'
import {
  type ActivityInterceptors,
  type InjectedSinks,
  NativeConnection,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import { recurringActivities } from '../../activities/recurring.ts'
import {
  attemptName,
  operationRunner,
  type RunOperation,
  reportedActivities,
} from '../../activities/shared/run-operation.ts'
import { applySignal } from '../../activities/shared/signals.ts'
import { statementActivities } from '../../activities/statements.ts'
import type { UpdateSinks } from '../../workflows/shared/updates.ts'
import { callsQueueOf, webhooksQueueOf } from '../kernel/contract/process.ts'
import { type ActivityCaller, stepOperation } from '../kernel/contract/step.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { readClockOffset } from '../kernel/database/tenant-clock.ts'
import { findLastRequest } from '../kernel/journal/last-request.ts'
import { calledSystemOf } from '../kernel/run/system-turns.ts'
import { ANSWER_AWAITED_MS } from '../kernel/run/unrecorded-answers.ts'
import { findDueStatementMonths } from '../money/statements/index.ts'
import { installTemporalRuntime, lenientPayloadCodec } from '../platform/temporal/runtime.ts'
import { clock } from '../values/clock.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'
import { ensureSchedules, removeEarlierRuns } from './schedules.ts'
import { keepTemporalConnected, type TemporalAccess } from './temporal-access.ts'
import { tracedActivities } from './traced-runs.ts'
import { keepABuildCurrent, versionOf, workerBuild } from './worker-build.ts'
import { type RunningWorkers, runWorkers } from './worker-group.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** How many idle workflows stay in memory; the others are replayed when they continue. */
const CACHED = 500

/**
 * One thread runs the workflows. What more it took at once would wait for it in the order of arrival: on the server it waits in
 * the turns of the owners.
 */
export const WORKFLOW_TASKS = 8

/** Most of them wait for their turn: see `SystemTurns`. A call holds no database connection. */
const CALLS_AND_WAITING = 500

/** As many as a deliverer sends at once. They hold no database connection, either. */
const WEBHOOKS = 256

interface WorkerPlace extends Pick<TemporalAccess, 'namespace' | 'taskQueue'> {
  readonly client: Client
  readonly stopping: AbortSignal
}

/** Runs the workflows. Temporal keeps their order and timers; all effects are operations of the API. */
async function startWorker(
  runtime: OpenRuntime,
  connection: NativeConnection,
  { client, namespace, taskQueue, stopping }: WorkerPlace,
): Promise<RunningWorkers> {
  const { database, ports, settings, log, metrics } = runtime
  const sql = sqlOn(database.pool)
  const run = operationRunner({
    execute: runtime.execute,
    operations: runtime.operations,
    offsetOf: tenant => readClockOffset(sql, tenant),
    causeOf: (tenant, id) => findLastRequest(sql, tenant, id),
    onFailure: (error, operation) => log.warn({ err: error, operation }, 'a process has to try again'),
  })
  const [bundle, build] = [await workflowBundle(), await workerBuild(settings)]
  stopping.throwIfAborted()
  const { tracing } = ports.systems
  const traced = tracing ? [tracedActivities(tracing)] : []
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    dataConverter: { payloadCodecs: [lenientPayloadCodec] },
    activities: {
      ...runtime.activities(callerOf(runtime, run)),
      ...statementActivities(run, of => findDueStatementMonths(sql, of)),
      ...recurringActivities({
        database,
        ports,
        removeEarlierRuns: () => removeRuns(client, taskQueue, log),
      }),
    },
    interceptors: { activity: [...traced, withHeartbeat, reportedActivities(log)] },
    sinks: countedRefusals(metrics),
    ...versionOf(build),
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    shutdownGraceTime: '5 seconds',
  }
  const queues = queuesOf(taskQueue, bundle, settings.databasePool)
  const workers = await runWorkers(queues.map(queue => ({ ...common, ...queue })))
  if (!build) return workers
  const keeping = keepABuildCurrent(runtime, connection, build)
  return { ended: workers.ended.finally(keeping.stop), stop: workers.stop }
}

/** An update that its run refuses at once leaves no event in the history: only a sink can see it. */
const countedRefusals = ({ refusedUpdate }: OpenRuntime['metrics']): InjectedSinks<UpdateSinks> => ({
  updates: { refused: { fn: ({ workflowType }, reason) => refusedUpdate(workflowType, reason) } },
})

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
    stickyQueueScheduleToStartTimeout: '500 ms',
    maxConcurrentActivityTaskExecutions: slots,
    maxConcurrentLocalActivityExecutions: slots,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
  },
  {
    taskQueue: callsQueueOf(taskQueue),
    maxConcurrentActivityTaskExecutions: CALLS_AND_WAITING,
  },
  {
    taskQueue: webhooksQueueOf(taskQueue),
    maxConcurrentActivityTaskExecutions: WEBHOOKS,
  },
]

/** A run carries out activities: each in its turn where it calls another system. */
const callerOf = ({ turns, settings }: OpenRuntime, run: RunOperation): ActivityCaller => ({
  requestIdOf: () => `workflow:${activityInfo().workflowExecution?.workflowId}`,
  waitingRun() {
    const { workflowExecution, startToCloseTimeoutMs } = activityInfo()
    if (!workflowExecution) return undefined
    // The activity is sure to read the record itself until then: no other worker has it, and its answer is still awaited.
    const ownMs = Math.min(startToCloseTimeoutMs / 2, ANSWER_AWAITED_MS)
    return { workflowId: workflowExecution.workflowId, until: clock.ticks() + ownMs }
  },
  inTurn(step, { ownerId: owner, mode }, work) {
    return turns.run({ system: calledSystemOf(stepOperation(step)), owner, mode }, work)
  },
  stopping: stoppingOfWorker,
  decide: ({ openLiveMoney = false, ...decision }) =>
    applySignal(
      run,
      { ...settings, openLiveMoney },
      {
        ...decision,
        once: attemptName(decision.signalled.updateId),
      },
    ),
})

/** A run whose work is done removes earlier ones of its schedule. Those that cannot be removed are reported, and are there a month. */
const removeRuns = (client: Client, taskQueue: string, log: OpenRuntime['log']): Promise<void> =>
  removeEarlierRuns(client, String(activityInfo().workflowType), taskQueue).catch((error: unknown) =>
    log.warn({ err: error }, 'earlier runs of a schedule could not be removed'),
  )

/** Aborted when the worker stops, and not where only its run turns to something else. */
function stoppingOfWorker(): AbortSignal {
  const cancelled = cancellationSignal()
  const stopping = new AbortController()
  cancelled.addEventListener('abort', () => {
    if (cancelled.reason instanceof CancelledFailure && cancelled.reason.message === 'WORKER_SHUTDOWN')
      stopping.abort()
  })
  return stopping.signal
}

/** Where an activity has to show that its worker lives, it does. Temporal gives it to another worker otherwise. */
const withHeartbeat = (context: Context): ActivityInterceptors => ({
  inbound: {
    async execute(input, next) {
      const { heartbeatTimeoutMs } = context.info
      if (!heartbeatTimeoutMs) return next(input)
      const beating = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / 4)
      return next(input).finally(() => clearInterval(beating))
    },
  },
})

/** Starts a worker. It has a file of its own because a relay does not need the worker's large SDK. */
export function startTemporalWorker(runtime: OpenRuntime, access: TemporalAccess): Stoppable {
  installTemporalRuntime(runtime.log)
  return keepTemporalConnected(runtime, 'worker', async stopping => {
    const connection = await NativeConnection.connect(access.worker)
    try {
      const client = new Client({ connection, namespace: access.namespace })
      await ensureSchedules(client, access.taskQueue)
      const worker = await startWorker(runtime, connection, { ...access, client, stopping })
      const ended = worker.ended.finally(() => connection.close())
      return { ended, stop: worker.stop }
    } catch (error) {
      await connection.close()
      throw error
    }
  })
}
