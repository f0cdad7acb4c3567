import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { printLine } from '../../../src/platform/output.ts'
import type { Measured } from '../load/load.ts'
import { ratio, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'

/** Rate, milliseconds, and the processor time of all processes of the program, PostgreSQL included, for one piece of work. */
export interface Work extends Pick<Measured, 'perSecond' | 'p50' | 'p99'> {
  readonly cpuMicroseconds: number
}

/** A running program, ours or another maker's. */
export interface Contestant {
  measure(connections: number): Promise<Work>
}

export interface Place {
  readonly folder: string
  /** Registers something to stop; the last one is stopped first. */
  closeLater(stop: () => Promise<void>): void
}

/** Another maker's program that does the same work. */
export interface Peer {
  readonly name: string
  /** Why it does not run here. Null if it does. */
  absence(): string | null
  open(place: Place): Promise<Contestant>
}

export interface Comparison {
  readonly work: string
  readonly connections: readonly number[]
  readonly ours: Contestant
  readonly peers: readonly Peer[]
}

export interface Row {
  readonly work: string
  readonly peer: string
  readonly connections: number
  readonly ours: Work
  readonly theirs: Work
}

export interface NotRun {
  readonly work: string
  readonly peer: string
  readonly reason: string
}

const ROUNDS = usualOrShort(3, 1)

/** Each peer beside ours. A peer is started before its turns and stopped after them, so that none runs beside the turns of another. */
export async function compare(comparison: Comparison, home: string): Promise<(Row | NotRun)[]> {
  const rows: (Row | NotRun)[] = []
  for (const peer of comparison.peers) rows.push(...(await compareWith(peer, comparison, home)))
  return rows
}

async function compareWith(
  peer: Peer,
  comparison: Comparison,
  home: string,
): Promise<readonly (Row | NotRun)[]> {
  const { work } = comparison
  const absence = peer.absence()
  if (absence !== null) return [{ work, peer: peer.name, reason: absence }]
  const folder = join(home, peer.name.toLowerCase().replaceAll(/\W+/g, '-'))
  mkdirSync(folder)
  const closers: (() => Promise<void>)[] = []
  try {
    const theirs = await opened(peer, { folder, closeLater: stop => closers.unshift(stop) })
    if ('reason' in theirs) return [{ work, peer: peer.name, ...theirs }]
    return await takeTurns(peer.name, comparison, theirs)
  } finally {
    for (const close of closers) await close()
  }
}

/** A peer that does not build or start leaves the others their turns. */
async function opened(peer: Peer, place: Place): Promise<Contestant | Pick<NotRun, 'reason'>> {
  try {
    return await peer.open(place)
  } catch (error) {
    printLine(`  ${peer.name} did not start: ${error}`)
    return { reason: 'it did not start' }
  }
}

async function takeTurns(
  peer: string,
  { work, connections: numbers, ours }: Comparison,
  theirs: Contestant,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const connections of numbers) {
    const rounds: { ours: Work; theirs: Work }[] = []
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ ours: await ours.measure(connections), theirs: await theirs.measure(connections) })
    const row = {
      work,
      peer,
      connections,
      ours: medians(rounds.map(round => round.ours)),
      theirs: medians(rounds.map(round => round.theirs)),
    }
    rows.push(row)
    printLine(`  ${lineOf(row)}`)
  }
  return rows
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const medians = (rounds: readonly Work[]): Work => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50: median(rounds.map(({ p50 }) => p50)),
  p99: median(rounds.map(({ p99 }) => p99)),
  cpuMicroseconds: median(rounds.map(({ cpuMicroseconds }) => cpuMicroseconds)),
})

const HEAD = [
  '| work | peer | at once | ours, /s | peer, /s | ours / peer | p50/p99 ours, ms | peer | processor ours, µs | peer |',
  '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|',
]

const times = ({ p50, p99 }: Work): string => `${p50.toFixed(1)}/${p99.toFixed(1)}`

const lineOf = (row: Row | NotRun): string =>
  'reason' in row
    ? `| ${row.work} | ${row.peer} | not run: ${row.reason} | | | | | | | |`
    : `| ${[
        row.work,
        row.peer,
        row.connections,
        wholeNumber(row.ours.perSecond),
        wholeNumber(row.theirs.perSecond),
        ratio(row.ours.perSecond, row.theirs.perSecond),
        times(row.ours),
        times(row.theirs),
        wholeNumber(row.ours.cpuMicroseconds),
        wholeNumber(row.theirs.cpuMicroseconds),
      ].join(' | ')} |`

/** One table, as Markdown. */
export const tableOf = (rows: readonly (Row | NotRun)[]): string => [...HEAD, ...rows.map(lineOf)].join('\n')
