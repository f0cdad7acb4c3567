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

/** Each peer beside ours. A peer is started before its turns and stopped after them, so that none runs beside another. */
export async function compare(comparison: Comparison, home: string): Promise<(Row | NotRun)[]> {
  const rows: (Row | NotRun)[] = []
  for (const peer of comparison.peers) {
    const absence = peer.absence()
    const found = absence === null ? compareWith(peer, comparison, home) : [notRun(comparison, peer, absence)]
    rows.push(...(await found))
  }
  return rows
}

const notRun = ({ work }: Comparison, { name }: Peer, reason: string): NotRun => ({
  work,
  peer: name,
  reason,
})

/** A peer that does not start, or fails under the load. The others still get their turns. */
class PeerFailure extends Error {}

const ofPeer = <T>(what: string, step: Promise<T>): Promise<T> =>
  step.catch(error => {
    printLine(`  ${what}: ${error}`)
    throw new PeerFailure(what)
  })

async function compareWith(peer: Peer, comparison: Comparison, home: string): Promise<(Row | NotRun)[]> {
  const folder = join(home, peer.name.toLowerCase().replaceAll(/\W+/g, '-'))
  mkdirSync(folder)
  const closers: (() => Promise<void>)[] = []
  const rows: (Row | NotRun)[] = []
  try {
    const place = { folder, closeLater: (stop: () => Promise<void>) => closers.unshift(stop) }
    const theirs = await ofPeer('it did not start', peer.open(place))
    for (const connections of comparison.connections) {
      const row = await takeTurns(comparison.ours, theirs, connections)
      rows.push({ work: comparison.work, peer: peer.name, connections, ...row })
      printLine(`  ${lineOf(rows.at(-1) as Row)}`)
    }
  } catch (error) {
    if (!(error instanceof PeerFailure)) throw error
    rows.push(notRun(comparison, peer, error.message))
  } finally {
    for (const close of closers) await close()
  }
  return rows
}

async function takeTurns(
  ours: Contestant,
  theirs: Contestant,
  connections: number,
): Promise<Pick<Row, 'ours' | 'theirs'>> {
  const rounds: { ours: Work; theirs: Work }[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({
      ours: await ours.measure(connections),
      theirs: await ofPeer('it failed under the load', theirs.measure(connections)),
    })
  return { ours: medians(rounds.map(one => one.ours)), theirs: medians(rounds.map(one => one.theirs)) }
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
