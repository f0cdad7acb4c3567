import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The command line of a process; empty where there is none. */
export function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** Every process that works in this folder and has these words in its command line. */
export function processesIn(folder: string, ...words: string[]): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter(pid => {
    const command = commandOf(pid)
    return words.every(word => command.includes(word)) && folderOf(pid) === folder
  })
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}
