/** Milliseconds of processor time, so that other load on the machine does not count. */
export interface ProcessorTime {
  /** The longest time for which this thread blocked the event loop. */
  readonly longest: number
  readonly thread: number
  readonly process: number
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000

/** Watches the event loop of this thread; returns the function that stops it. */
export function watchTurns(): () => ProcessorTime {
  const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()]
  let [longest, before, isOver] = [0, thread, false]
  const turn = (): void => {
    longest = Math.max(longest, milliseconds(process.threadCpuUsage(before)))
    before = process.threadCpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    isOver = true
    turn()
    return {
      longest,
      thread: milliseconds(process.threadCpuUsage(thread)),
      process: milliseconds(process.cpuUsage(all)),
    }
  }
}
