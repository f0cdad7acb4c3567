/**
 * For how long at most this thread computed without letting others have a turn while `work` was done: milliseconds of
 * its own processor time, so that what else the machine does is not counted.
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
