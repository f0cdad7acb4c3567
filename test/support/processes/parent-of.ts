import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { host } from '../../../src/dev/host.mjs'

export const parentOf = (pid: number): number =>
  host.hasProc
    ? Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    : Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }))
