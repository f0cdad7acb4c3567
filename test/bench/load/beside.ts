import { join } from 'node:path'
import type { Result } from '../case.ts'
import { node, start } from '../child.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'

/** One round is off by a tenth; the median of this many by less than three in a hundred. */
const ROUNDS = usualOrShort(15, 1)

/** The rate comes with the cost of each request, which depends less on other load. */
interface Rate {
  readonly perSecond: number
  readonly microseconds: number
}

export interface Pair {
  readonly alone: Rate
  readonly beside: Rate
}

const rateOf = (
  { perSecond, sent, cpuMicroseconds, databaseMicroseconds }: Result,
  otherSeconds: number,
): Rate => ({
  perSecond,
  microseconds: cpuMicroseconds + databaseMicroseconds + (otherSeconds * 1e6) / sent,
})

/** Measures a load in turns, with and without a process beside it that runs this file of the bench. */
export async function besideProcess(
  { folder, env }: Stage,
  file: string,
  rate: () => Promise<Result>,
): Promise<Pair[]> {
  const pairs: Pair[] = []
  const alone = async () => rateOf(await rate(), 0)
  const beside = async () => {
    const other = await start({ command: node(file), log: join(folder, 'beside.log'), env }, /running/)
    try {
      await rate()
      const before = other.cpuSeconds()
      const measured = await rate()
      return rateOf(measured, other.cpuSeconds() - before)
    } finally {
      await other.stop()
    }
  }
  await rate()
  for (let round = 0; round < ROUNDS; round++) {
    // The first one of a round would always have the smaller table.
    const first = round % 2 === 0 ? await alone() : undefined
    const besideIt = await beside()
    pairs.push({ alone: first ?? (await alone()), beside: besideIt })
  }
  return pairs
}

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

/** The remaining share of a rate, by count and by cost of each request. */
export const sharesOf = (pairs: readonly Pair[]) => ({
  rate: median(pairs.map(({ alone, beside }) => beside.perSecond / alone.perSecond)),
  processor: median(pairs.map(({ alone, beside }) => alone.microseconds / beside.microseconds)),
})
export type Shares = ReturnType<typeof sharesOf>

export const shareText = ({ rate, processor }: Shares): string =>
  `${rate.toFixed(3)} (by processor time ${processor.toFixed(3)}), by the median of ${ROUNDS} rounds`
