import type { Result } from './cases.ts'
import type { OneAtATime } from './pgbench.ts'

export interface Report {
  readonly machine: { readonly cpus: number; readonly node: string }
  readonly startSeconds: number
  readonly memoryBefore: number
  readonly memoryAfter: number
  readonly results: readonly Result[]
  readonly calls: readonly OneAtATime[]
}

const names: Readonly<Record<string, string>> = {
  bare: 'Express, same work, no database',
  echo: 'the pipeline, no database',
  get: 'GET /policies/{id}',
  create: 'POST /policies',
  pots: 'hot operation, 1,000 pots',
  pot: 'hot operation, one pot',
}

const whole = (value: number) => Math.round(value).toLocaleString('en')
const ratio = (a: number | undefined, b: number | undefined) => (a && b ? (a / b).toFixed(2) : '–')
const line = (cells: readonly string[]) =>
  cells.map((cell, n) => (n === 0 ? cell.padEnd(40) : cell.padStart(26))).join('')

/** The report for people: rate, latencies and processor time by the number of connections, then what is compared. */
export function table({ machine, startSeconds, memoryBefore, memoryAfter, results, calls }: Report): string {
  const counts = [...new Set(results.map(({ connections }) => connections))]
  const of = (name: string, connections: number) =>
    results.find(result => result.name === name && result.connections === connections)
  const rate = (name: string, connections: number) => of(name, connections)?.perSecond
  const cell = (result: Result | undefined) =>
    result
      ? `${whole(result.perSecond)}/s ${result.p50.toFixed(1)}/${result.p99.toFixed(1)} ${whole(result.cpuMicroseconds)}µs`
      : '–'
  const called = (manner: string, pots: number) =>
    calls.find(call => call.manner === manner && call.pots === pots)?.perSecond
  return [
    `${machine.cpus} processors shared by server, PostgreSQL (fsync on) and load; Node ${machine.node}`,
    'requests a second, p50/p99 in ms, processor time of the server for one request; the better of two rounds',
    '',
    line(['connections', ...counts.map(String)]),
    ...Object.entries(names).map(([name, title]) =>
      line([title, ...counts.map(count => cell(of(name, count)))]),
    ),
    '',
    line(['the pipeline / Express', ...counts.map(n => ratio(rate('echo', n), rate('bare', n)))]),
    line([
      'the same by processor time',
      ...counts.map(n => ratio(of('bare', n)?.cpuMicroseconds, of('echo', n)?.cpuMicroseconds)),
    ]),
    ...calls.map(({ manner, pots, perSecond }) => {
      const name = pots === 1 ? 'pot' : 'pots'
      const title = `hot / pgbench ${manner}, ${pots} (${whole(perSecond)}/s)`
      return line([title, ...counts.map(n => ratio(rate(name, n), called(manner, pots)))])
    }),
    '',
    `warm start ${startSeconds.toFixed(1)} s; memory ${whole(memoryBefore)} MB, after the loads ${whole(memoryAfter)} MB`,
  ].join('\n')
}
