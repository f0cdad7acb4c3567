import { readFileSync } from 'node:fs'

const PAGE = 4_096
const MIB = 1_048_576
/** Linux counts the processor time of a process in hundredths of a second. */
const TICKS = 100

/** What a process holds and has used, where the system tells; elsewhere only the limits of its heap and its time hold. */
const told = (pid: number | undefined, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

export const residentMib = (pid: number | undefined): number =>
  (Number(told(pid, 'statm').split(' ')[1] ?? 0) * PAGE) / MIB

/** The name of a program may hold blanks: the figures come after its bracket. */
export function cpuSeconds(pid: number | undefined): number {
  const [user = 0, system = 0] =
    told(pid, 'stat').split(') ').at(-1)?.split(' ').slice(11, 13).map(Number) ?? []
  return (user + system) / TICKS
}
