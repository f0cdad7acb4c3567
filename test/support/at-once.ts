import type { TestService } from './harness.ts'
import { withConnection } from './rows.ts'
import { until } from './until.ts'

const WAITING = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`

export interface HeldLock {
  readonly lock: string
  readonly values: unknown[]
}

export const rowOf = (table: string, id: string): HeldLock => ({
  lock: `select from ${table} where id = $1 for update`,
  values: [id],
})

/** The first waits for the lock, and the second for the lock or for the first. Then the lock is released. */
export const atOnce = <A, B>(
  { databaseUrl, sql }: TestService,
  { lock, values }: HeldLock,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> =>
  withConnection(databaseUrl, async holder => {
    const waiting = (count: number) =>
      until(`${count} requests wait`, async () => (await sql(WAITING)).length >= count)
    await holder.query('begin')
    await holder.query(lock, values)
    const one = first()
    await waiting(1)
    const other = second()
    await waiting(2)
    await holder.query('commit')
    return Promise.all([one, other])
  })

/** Does the work while another transaction has the lock, and then releases it. */
export const whileLocked = <T>(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  { lock, values }: HeldLock,
  work: () => Promise<T>,
): Promise<T> =>
  withConnection(databaseUrl, async holder => {
    await holder.query('begin')
    await holder.query(lock, values)
    const done = await work()
    await holder.query('commit')
    return done
  })

export const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** How many responses had each status: `{ 201: 50, 400: 50 }`. */
export function statusCounts(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
