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
  const stopping = new AbortController()
  const { signal } = stopping
  const round = () => client.connection.withAbortSignal(signal, () => mendRuns(runtime, client, taskQueue))
  const rounds = everySoOften(EVERY_MS, round, error => {
    if (!signal.aborted) runtime.log.warn({ err: error }, 'runs ended from outside could not be begun anew')
  })
  return {
    stop() {
      stopping.abort()
      return rounds.stop()
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
