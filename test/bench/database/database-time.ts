import { readFileSync } from 'node:fs'
import { withConnection } from '../../support/rows.ts'
import { cpuOf, endedChildrenCpuOf, parentOf } from '../child.ts'

export type DatabaseClock = () => number

/**
 * Starts a clock of the whole cluster: the postmaster, the backends, and the background processes. Ended
 * backends stay counted.
 */
export async function databaseClock(databaseUrl: string): Promise<DatabaseClock> {
  const postmaster = await withConnection(databaseUrl, async client => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return parentOf(rows[0]?.pid)
  })
  return () => clusterSeconds(postmaster)
}

/** Reads again if a child ended meanwhile: its time would be missing or counted twice. */
function clusterSeconds(postmaster: number): number {
  const ended = endedChildrenCpuOf(postmaster)
  const running = cpuOf(postmaster) + sumOf(childrenOf(postmaster).map(cpuOrZero))
  return endedChildrenCpuOf(postmaster) === ended ? ended + running : clusterSeconds(postmaster)
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Zero for a child that has just ended: its time counts among that of ended children. */
function cpuOrZero(pid: number): number {
  try {
    return cpuOf(pid)
  } catch {
    return 0
  }
}

const sumOf = (seconds: readonly number[]): number => seconds.reduce((sum, one) => sum + one, 0)
