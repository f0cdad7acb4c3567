import pg from 'pg'
import { printLine } from '../../../src/platform/output.ts'
import { byEntityManager, byRecordStore } from './ways.ts'

export interface Run {
  readonly url: string
  readonly way: 'record store' | 'entity manager'
  readonly count: number
}

export type Work = 'get' | 'create' | 'update'

/** Processor time of this process for one call, in microseconds. */
export type Microseconds = Readonly<Record<Work, number>>

const AT_ONCE = 8

async function microsecondsOf(count: number, work: (n: number) => Promise<unknown>): Promise<number> {
  let next = 0
  const before = process.cpuUsage()
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

const { url, way, count } = JSON.parse(process.argv[2] ?? '') as Run
const pool = new pg.Pool({ connectionString: url, pipeline: true, max: AT_ONCE })
const { get, create, update } = way === 'record store' ? byRecordStore(pool) : await byEntityManager(pool)
const { rows } = await pool.query<{ id: string }>('select id from notes order by id limit 500')
const idOf = (n: number): string => rows[n % rows.length]?.id ?? ''
const works: Readonly<Record<Work, (n: number) => Promise<unknown>>> = {
  get: n => get(idOf(n)),
  create: n => create(`Created ${n}`),
  update: n => update(idOf(n), `Updated ${Math.random()}`),
}
const found = {} as Record<Work, number>
for (const [name, work] of Object.entries(works)) {
  await microsecondsOf(count / 4, work)
  found[name as Work] = await microsecondsOf(count, work)
}
await pool.end()
printLine(JSON.stringify(found))
