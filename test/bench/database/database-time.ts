import { readFileSync } from 'node:fs'
import { withConnection } from '../../support/rows.ts'
import { cpuOf, endedChildrenCpuOf, parentOf } from '../child.ts'

/** Tells what PostgreSQL has used of the processor until now, in seconds. */
export type DatabaseClock = () => number

/**
 * Counts the postmaster and all its children: backends, and what writes and cleans up behind them. Children that have
 * ended count too, so no connection that closes takes its time away.
 */
export async function databaseClock(databaseUrl: string): Promise<DatabaseClock> {
  const postmaster = await withConnection(databaseUrl, async client => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return parentOf(rows[0]?.pid)
  })
  return () =>
    cpuOf(postmaster) + endedChildrenCpuOf(postmaster) + sumOf(childrenOf(postmaster).map(cpuOrZero))
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** A child that ends while it is asked counts among the ended ones the next time. */
function cpuOrZero(pid: number): number {
  try {
    return cpuOf(pid)
  } catch {
    return 0
  }
}

const sumOf = (seconds: readonly number[]): number => seconds.reduce((sum, one) => sum + one, 0)
