import { readdirSync, readFileSync } from 'node:fs'

/** The command line of a process; empty where there is none. */
export function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** Every process whose command line has all of these words. */
export function processesWith(...words: string[]): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter(pid => {
    const command = commandOf(pid)
    return words.every(word => command.includes(word))
  })
}
