import { readFileSync } from 'node:fs'
import type { Result } from './case.ts'
import { plainCases } from './cases/plain-cases.ts'
import { CONNECTIONS, type Loads, measureLoads } from './loads.ts'
import { type FindResult, loadTable, ratio, resultFinder, type Section, tableLine } from './report.ts'
import type { Stage } from './stage.ts'

/** Short, because there are eleven cases: with this the part takes less than four minutes. */
const SECONDS = 1

/**
 * The JSON of an earlier run, for instance of an older version: `BENCH_BEFORE=bench-before.json npm run bench
 * -- plain`.
 */
const before = process.env.BENCH_BEFORE

/** Compares plain operations with the pipeline, with their SQL, and with an earlier run. */
export async function measurePlain(stage: Stage): Promise<Section> {
  const earlier = before === undefined ? undefined : loadsIn(before)
  const cases = await plainCases(stage)
  const plain = await measureLoads(stage, cases, SECONDS)
  const rows = [loadTable(cases, plain, pipelineRows(resultFinder(plain))), ...processorRows(plain)]
  if (earlier) rows.push('', ...besideEarlier(plain, earlier))
  return { figures: { plain }, text: rows.join('\n') }
}

const row = (title: string, cell: (connections: number) => string): string =>
  tableLine([title, ...CONNECTIONS.map(cell)])

const pipelineRows = (of: FindResult): string[] => [
  row('get / the pipeline', n => ratio(of('get', n)?.perSecond, of('echo', n)?.perSecond)),
  row('the same by processor time of the server', n =>
    ratio(of('echo', n)?.cpuMicroseconds, of('get', n)?.cpuMicroseconds),
  ),
]

/** Compares with pgbench by processor time, which depends less on the machine than rates do. */
function processorRows(plain: Loads): string[] {
  const of = resultFinder(plain)
  const ofMany = plain.calls.filter(({ clients }) => clients > 1)
  return ofMany.map(({ name, databaseMicroseconds }) =>
    row(`${name} / pgbench by processor time of PostgreSQL`, n =>
      ratio(databaseMicroseconds, of(name, n)?.databaseMicroseconds),
    ),
  )
}

function loadsIn(file: string): Loads {
  const { plain } = JSON.parse(readFileSync(file, 'utf8')) as { plain?: Loads }
  if (!plain) throw new Error(`${file} has no figures of plain operations.`)
  return plain
}

function besideEarlier(plain: Loads, earlier: Loads): string[] {
  const [now, then] = [resultFinder(plain), resultFinder(earlier)]
  const cell = (result: Result | undefined, old: Result | undefined): string =>
    [
      ratio(result?.perSecond, old?.perSecond),
      ratio(result?.cpuMicroseconds, old?.cpuMicroseconds),
      ratio(result?.databaseMicroseconds, old?.databaseMicroseconds),
    ].join(' ')
  const names = [...new Set(plain.results.map(({ name }) => name))]
  return [
    `now / ${before}: rate, processor time of the server, of PostgreSQL`,
    ...names.map(name => row(name, n => cell(now(name, n), then(name, n)))),
  ]
}
