import { readFileSync } from 'node:fs'

const PAGE = 4_096
const MIB = 1_048_576

/** The memory that a process holds, where the system tells: elsewhere only the limit of its heap holds. */
export function residentMib(pid: number | undefined): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE) / MIB
  } catch {
    return 0
  }
}
