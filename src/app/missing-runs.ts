import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { beginMissingRuns } from '../kernel/background/open-records.ts'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { everySoOften } from '../platform/rounds.ts'
import { temporalRuns } from '../platform/temporal/runs.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { mendMonthly } from './schedules.ts'

/** With the time that a round takes it is less than a minute until what was ended from outside runs again. */
const EVERY = 20_000
/** A server answers ten questions for lists a second, and operators ask, too. */
const REST = 150

/** Whatever somebody does to a run in Temporal, its record comes to its end: the run is begun anew. */
export function startMending(runtime: OpenRuntime, client: Client, taskQueue: string): Part {
  const stopping = new AbortController()
  const { signal } = stopping
  const round = () => client.connection.withAbortSignal(signal, () => mendRuns(runtime, client, taskQueue))
  const rounds = everySoOften(EVERY, round, error => {
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
  await beginMissingRuns({ database, records, runs, rest: () => pause(REST) })
  await mendMonthly(client, taskQueue)
}
