import { answerOf, type Served } from './child.ts'
import type { SqlEquivalent, Variant } from './database/pgbench.ts'
import type { Job, Measured } from './load/load.ts'
import type { Stage } from './stage.ts'

export interface Case {
  readonly name: string
  readonly title: string
  readonly server: Served
  /** Returns the request of the next measurement, which may first create records. */
  request(): Promise<Request> | Request
  /** The same work as SQL that PostgreSQL runs without the service. */
  sqlEquivalent?(): Promise<SqlEquivalent> | SqlEquivalent
  /** The variants to compare with; by default the usual ones. */
  readonly variants?: readonly Variant[]
}

export type Request = Omit<Job, 'url' | 'connections' | 'seconds'>

export interface Result extends Measured {
  readonly name: string
  readonly connections: number
  readonly cpuMicroseconds: number
  readonly databaseMicroseconds: number
}

export async function measure(
  { databaseSeconds }: Pick<Stage, 'databaseSeconds'>,
  { name, server, request }: Case,
  connections: number,
  seconds: number,
): Promise<Result> {
  const job: Job = { ...(await request()), url: server.url, connections, seconds }
  const before = { server: server.cpuSeconds(), database: databaseSeconds() }
  const measured = await answerOf<Measured>('test/bench/load/load.ts', job)
  const microsecondsEach = (seconds: number): number => (seconds * 1e6) / measured.sent
  const cpuMicroseconds = microsecondsEach(server.cpuSeconds() - before.server)
  const databaseMicroseconds = microsecondsEach(databaseSeconds() - before.database)
  if (measured.failed > 0)
    throw new Error(`${name}: ${measured.failed} answers were failures, first ${measured.failure}`)
  return { name, connections, ...measured, cpuMicroseconds, databaseMicroseconds }
}
