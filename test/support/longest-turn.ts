import { callHost } from './services/call-host.ts'
import { type ProcessorTime, watchTurns } from './services/turns.ts'

/** The longest time that this thread blocked the event loop during `work`. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const end = watchTurns()
  await work()
  return end().longest
}

export async function processorTimeOfService(work: () => Promise<unknown>): Promise<ProcessorTime> {
  await callHost('watchTurns')
  await work()
  return callHost('turns')
}

const TURNS = 6

/**
 * The shortest of several longest turns during `work`, until one is below the limit: the first turns also
 * compile code, and each may collect other work's garbage.
 */
export async function bestOf(limitMs: number, work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < TURNS && best >= limitMs; turn++) best = Math.min(best, await longestOfBoth(work))
  return best
}

async function longestOfBoth(work: () => Promise<unknown>): Promise<number> {
  let own = 0
  const service = await processorTimeOfService(async () => {
    own = await longestTurn(work)
  })
  return Math.max(own, service.longest)
}

/** The processor milliseconds of the quickest of several turns, as some collect other work's garbage. */
export function quickestOf(turns: number, work: () => unknown): number {
  const taken = Array.from({ length: turns }, () => {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...taken)
}
