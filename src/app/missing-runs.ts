import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { beginMissingRuns } from '../kernel/background/open-records.ts'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { everySoOften } from '../platform/rounds.ts'
import { temporalRuns } from '../platform/temporal/runs.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { mendMonthly } from './schedules.ts'

/** With the time of a round, a run that was ended from outside runs again within a minute. */
const EVERY_MS = 20_000
/** Temporal answers ten list queries a second, and operators need some of them. */
const PAUSE_MS = 150

/** Restarts the runs of open records that somebody has ended in Temporal: every open record reaches its end. */
export function startMending(runtime: OpenRuntime, client: Client, taskQueue: string): Part {
  const cancellable = cancellableCalls(client.connection)
  const round = () => cancellable.run(() => mendRuns(runtime, client, taskQueue))
  const rounds = everySoOften(EVERY_MS, round, error => {
    if (!cancellable.isCancelled)
      runtime.log.warn({ err: error }, 'runs ended from outside could not be begun anew')
  })
  return {
    stop() {
      cancellable.cancel()
      return rounds.stop()
    },
  }
}

/**
 * Runs rounds of calls that `cancel` ends. Each round has a signal of its own: the client adds a listener for each call and
 * never removes it, so a signal that lives as long as the process would keep every answer of Temporal.
 */
export function cancellableCalls(connection: Pick<Client['connection'], 'withAbortSignal'>) {
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

export async function mendRuns(
  { areas, database }: Pick<OpenRuntime, 'areas'> & { readonly database: Database },
  client: Client,
  taskQueue: string,
): Promise<void> {
  const records = Object.values(areas).flatMap(({ openRecords }) => openRecords)
  const runs = temporalRuns(client, taskQueue)
  await beginMissingRuns({ database, records, runs, rest: () => pause(PAUSE_MS) })
  await mendMonthly(client, taskQueue)
}
