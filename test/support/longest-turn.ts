/**
 * The longest time that this thread blocked the event loop during `work`, in milliseconds of its own processor time, so
 * that other load on the machine does not count.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, before, isOver] = [0, process.threadCpuUsage(), false]
  const turn = (): void => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, (now.user - before.user + now.system - before.system) / 1_000)
    before = process.threadCpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  turn()
  return longest
}

const TURNS = 6

/**
 * The shortest of several such times, as soon as it is below the limit: the first turns also compile the code, and any may
 * collect the garbage of others.
 */
export async function bestOf(limitMs: number, work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < TURNS && best >= limitMs; turn++) best = Math.min(best, await longestTurn(work))
  return best
}

/** The milliseconds of processor time of the quickest of several turns: others may have collected garbage. */
export function quickestOf(turns: number, work: () => unknown): number {
  const taken = Array.from({ length: turns }, () => {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...taken)
}
