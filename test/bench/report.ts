import type { Case, Result } from './case.ts'
import { CONNECTIONS, type Loads } from './loads.ts'

/** The result of a part: figures for programs, and text for people. */
export interface Section {
  readonly figures: Readonly<Record<string, unknown>>
  readonly text: string
}

export const wholeNumber = (value: number): string => Math.round(value).toLocaleString('en')
export const ratio = (a: number | undefined, b: number | undefined): string =>
  a && b ? (a / b).toFixed(2) : '–'

const FIRST = 64
const OTHERS = 32

export const tableLine = (cells: readonly string[]): string =>
  cells.map((cell, n) => (n === 0 ? cell.padEnd(FIRST) : cell.padStart(OTHERS))).join('')

const cellOf = (result: Result | undefined): string =>
  result && result.perSecond > 0
    ? `${wholeNumber(result.perSecond)}/s ${result.p50.toFixed(1)}/${result.p99.toFixed(1)} ${wholeNumber(result.cpuMicroseconds)}+${wholeNumber(result.databaseMicroseconds)}µs`
    : '–'

export type FindResult = (name: string, connections: number) => Result | undefined

export const resultFinder =
  ({ results }: Loads): FindResult =>
  (name, connections) =>
    results.find(result => result.name === name && result.connections === connections)

/** A table of rates, latencies and processor times by the number of connections, and the comparisons. */
export function loadTable(cases: readonly Case[], loads: Loads, more: readonly string[] = []): string {
  const of = resultFinder(loads)
  const row = (title: string, cell: (connections: number) => string) =>
    tableLine([title, ...CONNECTIONS.map(cell)])
  return [
    'requests a second, p50/p99 in ms, processor time of the server + of PostgreSQL for one request; the better of two rounds, figure by figure',
    '',
    row('connections', String),
    ...cases.map(({ name, title }) => row(title, n => cellOf(of(name, n)))),
    '',
    ...more,
    ...loads.calls.map(({ name, variant, clients, perSecond, databaseMicroseconds }) =>
      row(
        `${name} / pgbench, ${variant} by ${clients} (${wholeNumber(perSecond)}/s ${wholeNumber(databaseMicroseconds)}µs)`,
        n => ((n === 1) === (clients === 1) ? ratio(of(name, n)?.perSecond, perSecond) : ''),
      ),
    ),
  ].join('\n')
}
