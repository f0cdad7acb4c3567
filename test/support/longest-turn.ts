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
