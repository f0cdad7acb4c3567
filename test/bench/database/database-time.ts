import { cpuOf } from '../child.ts'
import { type Stage, withClient } from '../stage.ts'

const BACKENDS = `select pid from pg_stat_activity where backend_type = 'client backend'`

/** The processor time of each client backend of PostgreSQL, in seconds. */
const timesOf = (stage: Stage): Promise<ReadonlyMap<number, number>> =>
  withClient(stage, async client => {
    const { rows } = await client.query<{ pid: number }>(BACKENDS)
    return new Map(rows.map(({ pid }) => [pid, cpuOf(pid)]))
  })

/**
 * Starts to measure PostgreSQL's processor time; the function returned gives the seconds. Backends that end are left
 * out.
 */
export async function databaseWatch(stage: Stage): Promise<() => Promise<number>> {
  const before = await timesOf(stage)
  return async () => {
    const now = await timesOf(stage)
    return [...now].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0)
  }
}
