import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { startMissingRuns } from '../kernel/background/open-records.ts'
import { OutboxRelay } from '../kernel/background/relay.ts'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { OUTBOX_DUE_SQL } from '../kernel/journal/outbox.ts'
import { repeatEvery } from '../platform/rounds.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { endLostRuns, type FindGone, goneBuilds } from '../platform/temporal/builds.ts'
import { temporalWorkflowRuns } from '../platform/temporal/runs.ts'
import { type ProcessesByName, workflowStarter } from '../platform/temporal/starter.ts'
import { clock } from '../values/clock.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'
import { repairMonthlyStatementRun } from './schedules.ts'
import { keepTemporalConnected, type TemporalAccess } from './temporal-access.ts'
import { withTracedStarts } from './traced-runs.ts'

/** Together with the time of a round, a run ended from outside is restarted within a minute. */
const EVERY_MS = 20_000
/** Temporal answers ten list queries a second, and operators need some of them. */
const PAUSE_MS = 150

interface RepairedRuntime extends Pick<OpenRuntime, 'areas' | 'log'> {
  readonly database: Database
  readonly settings: Pick<Settings, 'temporalDeployment' | 'temporalNamespace'>
}

/** Restarts runs of open records that were ended in Temporal, so that every open record reaches its end. */
export function startRunRepair(runtime: RepairedRuntime, client: Client, taskQueue: string): Stoppable {
  const cancellable = cancellableTemporalCalls(client.connection)
  const { temporalNamespace: namespace } = runtime.settings
  const gone = goneBuilds(client.workflowService, { namespace, taskQueue })
  const report = (problem: string) => (error: unknown) => {
    if (!cancellable.isCancelled) runtime.log.warn({ err: error }, problem)
  }
  const round = () =>
    cancellable.run(async () => {
      await endRunsOfGoneWorkers(runtime, client, { taskQueue, gone }).catch(
        report('runs of gone workers were not ended'),
      )
      await repairWorkflowRuns(runtime, client, taskQueue)
    })
  const rounds = repeatEvery(EVERY_MS, round, report('runs ended from outside could not be begun anew'))
  return {
    stop() {
      cancellable.cancel()
      return rounds.stop()
    },
  }
}

/** They stay with a build that has no workers any more: the records get new runs. */
async function endRunsOfGoneWorkers(
  { settings, log }: RepairedRuntime,
  client: Client,
  queue: { readonly taskQueue: string; readonly gone: FindGone },
): Promise<void> {
  const { temporalDeployment: deploymentName, temporalNamespace: namespace } = settings
  if (!deploymentName) return
  const runs = await endLostRuns(client, { namespace, deploymentName, ...queue })
  if (runs.length === 0) return
  const some = { count: runs.length, first: runs.slice(0, 10) }
  log.warn(some, 'no workers of their build are left: these runs are begun anew')
}

/**
 * Runs rounds of calls that `cancel` ends. Each round has a signal of its own: the client adds a listener per
 * call and never removes it, so one signal for the whole process would keep every answer of Temporal in
 * memory.
 */
export function cancellableTemporalCalls(connection: Pick<Client['connection'], 'withAbortSignal'>) {
  let round = new AbortController()
  let isCancelled = false
  return {
    get isCancelled() {
      return isCancelled
    },
    run<T>(calls: () => Promise<T>): Promise<T> {
      round = new AbortController()
      if (isCancelled) round.abort()
      return connection.withAbortSignal(round.signal, calls)
    },
    cancel() {
      isCancelled = true
      round.abort()
    },
  }
}

export async function repairWorkflowRuns(
  { areas, database }: Pick<OpenRuntime, 'areas'> & { readonly database: Database },
  client: Client,
  taskQueue: string,
): Promise<void> {
  const records = Object.values(areas).flatMap(({ openRecords }) => openRecords)
  const runs = temporalWorkflowRuns(client, taskQueue)
  await startMissingRuns({ database, records, runs, rest: () => pause(PAUSE_MS) })
  await repairMonthlyStatementRun(client, taskQueue)
}

export function startOutboxRelay(runtime: OpenRuntime, access: TemporalAccess): Stoppable {
  runtime.watchTemporal(async () => false)
  return keepTemporalConnected(runtime, 'relay', async stopping => {
    const connection = await Connection.connect(access.client)
    if (stopping.aborted) return { stop: () => connection.close() }
    const client = new Client({ connection, namespace: access.namespace })
    runtime.watchTemporal(() => isServing(connection))
    const { database, listener, log, ports, watch } = runtime
    const onFailure = (error: unknown) => log.warn({ err: error }, 'Temporal took no work')
    const lease = runtime.leases.of('outbox')
    const start = workflowStarter(client, access.taskQueue, processesOf(runtime.areas))
    const deliver = ports.systems.tracing ? withTracedStarts(start, ports.systems.tracing) : start
    const relay = new OutboxRelay({ database, lease, deliver, onFailure })
    const ignore = listener.on('outbox', relay.wake)
    const letGo = lease.keepWhile(() => relay.hasClaims)
    const unwatch = watch.add({ dueAt: OUTBOX_DUE_SQL, wake: relay.wake, onFreed: relay.wake })
    const mending = startRunRepair(runtime, client, access.taskQueue)
    return {
      async stop() {
        await mending.stop()
        ignore()
        await unwatch()
        await relay.stop()
        letGo()
        await connection.close()
      },
    }
  })
}

const processesOf = (areas: OpenRuntime['areas']): ProcessesByName =>
  new Map(
    Object.values(areas).flatMap(({ openRecords }) =>
      openRecords.map(({ process }) => [process.name, process] as const),
    ),
  )

const isServing = (connection: Connection): Promise<boolean> =>
  connection
    .withDeadline(clock.milliseconds() + 1_000, () => connection.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    )
