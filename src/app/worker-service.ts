import { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { agentActivities } from '../../activities/agents.ts'
import { cardRequestActivities } from '../../activities/card-requests.ts'
import { cardActivities } from '../../activities/cards.ts'
import { collectActivities } from '../../activities/collect.ts'
import { disputeActivities } from '../../activities/disputes.ts'
import { gdprActivities } from '../../activities/gdpr.ts'
import { incidentActivities } from '../../activities/incidents.ts'
import { intentActivities } from '../../activities/intents.ts'
import { kycActivities } from '../../activities/kyc.ts'
import { mandateActivities } from '../../activities/mandates.ts'
import { mppActivities } from '../../activities/mpp.ts'
import { onboardingActivities } from '../../activities/onboarding.ts'
import { peopleActivities } from '../../activities/people.ts'
import { refundActivities } from '../../activities/refunds.ts'
import { statementActivities } from '../../activities/statements.ts'
import { runner } from '../../activities/support.ts'
import { transferActivities } from '../../activities/transfers.ts'
import { webhookActivities } from '../../activities/webhooks.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { offsetOf } from '../kernel/database/tenant-clock.ts'
import { lastRequestOf } from '../kernel/journal/last-request.ts'
import { monthsDue } from '../money/statements/index.ts'
import { kycProviderOf } from '../platform/settings/external-systems.ts'
import { installRuntime, legible } from '../platform/temporal/runtime.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { keepSchedules } from './schedules.ts'
import { type TemporalAccess, untilConnected } from './temporal-access.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** How many idle workflows stay in memory; others are replayed when they go on. */
const CACHED = 500

interface RunningWorker {
  /** Rejects with the failure that ended the worker. */
  readonly ended: Promise<void>
  /** Takes no more tasks and finishes those under way. */
  stop(): Promise<void>
}

interface WorkerOptions extends Pick<TemporalAccess, 'namespace' | 'taskQueue'> {
  /** Aborted where the worker is not to begin any more. */
  readonly stopping: AbortSignal
}

/** Runs the workflows. Temporal keeps their order and timers; operations of the API have all effects. */
async function startWorker(
  { execute, operations, database, settings, log }: OpenRuntime,
  connection: NativeConnection,
  { namespace, taskQueue, stopping }: WorkerOptions,
): Promise<RunningWorker> {
  const sql = sqlOn(database.pool)
  const run = runner({
    execute,
    operations,
    offsetOf: tenant => offsetOf(sql, tenant),
    causeOf: (tenant, id) => lastRequestOf(sql, tenant, id),
    onFailure: (error, operation) => log.warn({ err: error, operation }, 'a process has to try again'),
  })
  const bundle = await workflowBundle()
  stopping.throwIfAborted()
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: bundle,
    dataConverter: { payloadCodecs: [legible] },
    activities: {
      ...agentActivities(run),
      ...cardRequestActivities(run, settings),
      ...mandateActivities(run, settings),
      ...collectActivities(run, settings),
      ...refundActivities(run, settings),
      ...mppActivities(run, settings),
      ...cardActivities(run, settings),
      ...intentActivities(run, settings),
      ...disputeActivities(run),
      ...incidentActivities(run),
      ...kycActivities(run),
      // Where companies are real ones, an onboarding of test mode opens live keys too.
      ...gdprActivities(run),
      ...onboardingActivities(run, { ...settings, openLiveMoney: kycProviderOf(settings) === 'manual' }),
      ...peopleActivities(run, settings),
      ...statementActivities(run, of => monthsDue(sql, of)),
      ...transferActivities(run, settings),
      ...webhookActivities(run),
    },
    maxCachedWorkflows: CACHED,
    // How long the runs of a dead worker wait for it before another worker takes them over.
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

/** Starts a worker. In a file of its own, as the worker's SDK is large and a relay needs none of it. */
export function startWork(runtime: OpenRuntime, access: TemporalAccess): Part {
  installRuntime(runtime.log)
  return untilConnected(runtime, 'worker', async stopping => {
    const connection = await NativeConnection.connect(access.worker)
    try {
      await keepSchedules(new Client({ connection, namespace: access.namespace }), access.taskQueue)
      const worker = await startWorker(runtime, connection, { ...access, stopping })
      const ended = worker.ended.finally(() => connection.close())
      return { ended, stop: worker.stop }
    } catch (error) {
      await connection.close()
      throw error
    }
  })
}
