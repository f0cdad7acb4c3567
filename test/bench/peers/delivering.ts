import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import type { Request } from '../case.ts'
import { answerOf, type Served } from '../child.ts'
import type { Job, Measured } from '../load/load.ts'
import type { ReceivedCounts } from '../receiver.ts'
import { usualOrShort } from '../short.ts'
import type { Contestant } from './compare.ts'

const EVENTS = usualOrShort(1_000, 100)
/** Far below what any of them sustains, so that no delivery waits for another one. */
const PACE = 25
const PACED_SECONDS = usualOrShort(3, 1)
const PATIENCE_MS = 120_000
/** What follows a delivery is done by then, such as recording its outcome. */
const AFTERWARDS_MS = 1_500

export interface Sender {
  readonly url: string
  /** The request whose event the receiver gets, with `sent-{now}` in it. */
  readonly request: Request
  /** The receiver to which all its events go. */
  readonly receiver: Served
  cpuSeconds(): number
}

/**
 * Rate and processor time of events that are published as fast as the sender takes them, and from the request to the
 * receipt the time of events at a slow pace.
 */
export const delivering = (sender: Sender): Contestant => ({
  async measure(connections) {
    const cpuBefore = sender.cpuSeconds()
    const { count, firstAt, lastAt } = await publish(sender, { connections, most: EVENTS })
    const cpuMicroseconds = ((sender.cpuSeconds() - cpuBefore) * 1e6) / count
    const paced = await publish(sender, { connections, arrivalsPerSecond: PACE })
    const latencies = paced.latencies.toSorted((a, b) => a - b)
    const quantile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
    const perSecond = ((count - 1) * 1_000) / (lastAt - firstAt)
    return { perSecond, p50: quantile(0.5), p99: quantile(0.99), cpuMicroseconds }
  },
})

type Pace = Pick<Job, 'connections' | 'most' | 'arrivalsPerSecond'>

async function publish({ url, request, receiver }: Sender, pace: Pace): Promise<ReceivedCounts> {
  const read = async (path: string) => (await (await fetch(receiver.url + path)).json()) as ReceivedCounts
  await read('/')
  const seconds = pace.most === undefined ? PACED_SECONDS : PATIENCE_MS / 1_000
  const job: Job = { ...request, ...pace, url, seconds }
  const { sent, failed } = await answerOf<Measured>('test/bench/load/load.ts', job)
  if (failed > 0) throw new Error(`${failed} events were not taken`)
  await until(`${sent} deliveries`, async () => (await read('/peek')).count >= sent, PATIENCE_MS)
  await sleep(AFTERWARDS_MS)
  return read('/')
}
