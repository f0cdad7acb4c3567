import { setTimeout as pause } from 'node:timers/promises'
import { printLine } from '../../../src/platform/output.ts'
import { measure, type Result } from '../case.ts'
import { plainCases } from '../cases/plain-cases.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { type OpenStreams, openStreams } from './open-streams.ts'
import { timesToTail } from './tail.ts'
import { writeEvents } from './writing.ts'

const STREAMS = 20
const EVENTS_A_SECOND = 1_000
const CONNECTIONS = usualOrShort(32, 8)
const SECONDS = usualOrShort(3, 0.5)
const ROUNDS = usualOrShort(5, 1)

/** The delay until an event arrives, and the cost of 20 streams for the API while 1,000 events a second are written. */
export async function measureStreams(stage: Stage): Promise<Section> {
  const tail = await timesToTail(stage)
  const pairs = await measureLoad(stage)
  const share = median(pairs.map(({ withStreams, alone }) => withStreams.perSecond / alone.perSecond))
  const taken = median(pairs.map(takenByStreams))
  const text = [
    tableLine(['from COMMIT to a line of agentpay events tail', 'p50 ms', 'p99 ms']),
    tableLine(['idle', tail.p50.toFixed(1), tail.p99.toFixed(1)]),
    '',
    `GET /policies/{id} at ${CONNECTIONS} connections, while ${wholeNumber(EVENTS_A_SECOND)} events a second are written`,
    tableLine(['in turns', 'alone', `beside ${STREAMS} streams`, 'share', 'processor time, alone', 'beside']),
    ...pairs.map(lineOf),
    tableLine(['the median of the shares', '', '', share.toFixed(2)]),
    tableLine(['processor time of the streams, of one processor', '', '', taken.toFixed(2)]),
  ].join('\n')
  return { figures: { streams: { tail, pairs, share, taken } }, text }
}

interface Pair {
  readonly alone: Result
  readonly withStreams: Result
}

/** Valid on a busy machine, too: the API has one processor and loses this share of its rate. */
const takenByStreams = ({ alone, withStreams }: Pair): number =>
  ((withStreams.cpuMicroseconds - alone.cpuMicroseconds) * withStreams.perSecond) / 1e6

const lineOf = ({ alone, withStreams }: Pair, round: number): string =>
  tableLine([
    `round ${round + 1}`,
    `${wholeNumber(alone.perSecond)}/s`,
    `${wholeNumber(withStreams.perSecond)}/s`,
    ratio(withStreams.perSecond, alone.perSecond),
    ...[alone, withStreams].map(({ cpuMicroseconds }) => `${wholeNumber(cpuMicroseconds)}µs`),
  ])

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** The same events are written in both, which differ only by the streams. */
async function measureLoad(stage: Stage): Promise<Pair[]> {
  const load = (await plainCases(stage)).find(({ name }) => name === 'get')
  if (!load) throw new Error('the load is one of the plain cases')
  const writing = await writeEvents(stage, EVENTS_A_SECOND)
  const pairs: Pair[] = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const alone = await measure(stage, load, CONNECTIONS, SECONDS)
      const withStreams = await besideStreams(stage, writing, () =>
        measure(stage, load, CONNECTIONS, SECONDS),
      )
      pairs.push({ alone, withStreams })
      printLine(
        `  alone ${wholeNumber(alone.perSecond)}, beside streams ${wholeNumber(withStreams.perSecond)}`,
      )
    }
  } finally {
    await writing.stop()
  }
  return pairs
}

async function besideStreams<T>(
  stage: Stage,
  { count }: { readonly count: () => number },
  work: () => Promise<T>,
): Promise<T> {
  const before = count()
  const streams = await openStreams(stage, STREAMS)
  try {
    const done = await work()
    await sawAll(streams, count() - before)
    return done
  } finally {
    streams.close()
  }
}

const PATIENCE = { forMs: 10_000, everyMs: 50 }

/** A stream that keeps its rate by skipping events would measure nothing. */
async function sawAll({ fewest }: OpenStreams, written: number): Promise<void> {
  const until = performance.now() + PATIENCE.forMs
  // Some were written while the streams were opened.
  while (fewest() < written * 0.9) {
    if (performance.now() > until) throw new Error(`a stream has ${fewest()} of ${written} events`)
    await pause(PATIENCE.everyMs)
  }
}
