import { answerOf, type Served } from './child.ts'
import type { Alone, Manner } from './database/pgbench.ts'
import type { Job, Measured } from './load.ts'
import type { Stage } from './stage.ts'

/** One kind of request, under load. */
export interface Case {
  readonly name: string
  readonly title: string
  readonly server: Served
  /** Asked for before each measurement, which may need records of its own. */
  request(): Promise<Request> | Request
  /** The same work as PostgreSQL does it by itself. */
  alone?(): Promise<Alone> | Alone
  /** In which manners; as in the others, if left out. */
  readonly manners?: readonly Manner[]
}

export type Request = Omit<Job, 'url' | 'connections' | 'seconds'>

export interface Result extends Measured {
  readonly name: string
  readonly connections: number
  /** Processor time of the server for one request. */
  readonly cpuMicroseconds: number
  /** Processor time of PostgreSQL for one request. */
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
  const measured = await answerOf<Measured>('test/bench/load.ts', job)
  const microsecondsEach = (seconds: number): number => (seconds * 1e6) / measured.sent
  const cpuMicroseconds = microsecondsEach(server.cpuSeconds() - before.server)
  const databaseMicroseconds = microsecondsEach(databaseSeconds() - before.database)
  if (measured.failed > 0) throw new Error(`${name}: ${measured.failed} answers were failures`)
  return { name, connections, ...measured, cpuMicroseconds, databaseMicroseconds }
}
