import { type Case, measure } from '../case.ts'
import { usualOrShort } from '../short.ts'
import type { Contestant } from './compare.ts'

const SECONDS = usualOrShort(2, 0.5)

/** A server that answers when the work is done, and the processor time of the programs behind it. */
export const answering = (benchCase: Case, secondsBehind: () => number): Contestant => ({
  async measure(connections) {
    const behind = { databaseSeconds: secondsBehind }
    const { perSecond, p50, p99, cpuMicroseconds, databaseMicroseconds } = await measure(
      behind,
      benchCase,
      connections,
      SECONDS,
    )
    return { perSecond, p50, p99, cpuMicroseconds: cpuMicroseconds + databaseMicroseconds }
  },
})
