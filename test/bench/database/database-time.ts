import { cpuOf } from '../child.ts'
import { type Stage, withClient } from '../stage.ts'

const BACKENDS = `select pid from pg_stat_activity where backend_type = 'client backend'`

/** What each of PostgreSQL's processes that serve somebody has used of the processor, in seconds. */
const timesOf = (stage: Stage): Promise<ReadonlyMap<number, number>> =>
  withClient(stage, async client => {
    const { rows } = await client.query<{ pid: number }>(BACKENDS)
    return new Map(rows.map(({ pid }) => [pid, cpuOf(pid)]))
  })

/** What the database uses of the processor, in seconds, until it is asked for; connections that end meanwhile were idle. */
export async function databaseWatch(stage: Stage): Promise<() => Promise<number>> {
  const before = await timesOf(stage)
  return async () => {
    const now = await timesOf(stage)
    return [...now].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0)
  }
}
