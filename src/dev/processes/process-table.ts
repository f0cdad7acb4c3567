import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { host } from '../host.mjs'

export interface ProcessCommand {
  readonly program: string
  has(word: string): boolean
}

export interface ProcessTable {
  commandOf(pid: number): ProcessCommand | null
  /** The pids of processes that run in this folder and have these words in their command line. */
  processesIn(folder: string, ...words: string[]): number[]
  isRunning(pid: number): boolean
}

export const procTable: ProcessTable = {
  commandOf(pid) {
    const [path = '', ...words] = textOf(`/proc/${pid}/cmdline`).split('\0')
    return path ? { program: basename(path), has: word => words.includes(word) } : null
  },
  processesIn(folder, ...words) {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
    return pids.filter(pid => {
      const command = this.commandOf(pid)
      return words.every(word => command?.has(word)) && folderOf(pid) === folder
    })
  },
  isRunning: pid => existsSync(`/proc/${pid}/exe`),
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

/**
 * Reads `ps` and `lsof`, which macOS and the BSDs have. Their output does not show where an argument with
 * spaces ends.
 */
export const psTable: ProcessTable = {
  commandOf(pid) {
    const path = outputOf('ps', '-ww', '-o', 'comm=', '-p', String(pid)).trim()
    const words = outputOf('ps', '-ww', '-o', 'args=', '-p', String(pid)).trim()
    return path ? { program: basename(path), has: word => contains(words, word) } : null
  },
  processesIn(folder, ...words) {
    const lines = outputOf('ps', '-axww', '-o', 'pid=,args=').split('\n')
    const pids = lines.filter(line => words.every(word => contains(line, word))).map(Number.parseFloat)
    if (pids.length === 0) return []
    // A line `p` with the pid, then a line `n` with the folder.
    const folders = outputOf('lsof', '-a', '-d', 'cwd', '-Fpn', '-p', pids.join()).matchAll(
      /^p(\d+)\n(?:f.*\n)?n(.*)$/gm,
    )
    return [...folders].filter(([, , path]) => path === folder).map(([, pid]) => Number(pid))
  },
  isRunning: pid => /^[^Z]/.test(outputOf('ps', '-o', 'stat=', '-p', String(pid)).trim()),
}

const contains = (line: string, word: string): boolean => ` ${line} `.includes(` ${word} `)

const outputOf = (program: string, ...args: string[]): string =>
  spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 24 }).stdout ?? ''

export const { commandOf, processesIn, isRunning } = bound(host.hasProc ? procTable : psTable)

function bound(table: ProcessTable): ProcessTable {
  return {
    commandOf: pid => table.commandOf(pid),
    processesIn: (folder, ...words) => table.processesIn(folder, ...words),
    isRunning: pid => table.isRunning(pid),
  }
}
