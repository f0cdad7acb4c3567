import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { host } from '../../../src/dev/host.mjs'

/** A listening socket of a process, from the kernel or `lsof`; an IPv4 loopback address begins with `127.`. */
export interface ListeningSocket {
  readonly host: string
  readonly port: number
}

export const listeningSockets = (pid: number): ListeningSocket[] =>
  host.hasProc ? byKernel(pid) : byLsof(pid)

function byLsof(pid: number): ListeningSocket[] {
  const args = ['-nP', '-a', '-p', String(pid), '-iTCP', '-sTCP:LISTEN', '-Fn']
  const { stdout } = spawnSync('lsof', args, { encoding: 'utf8' })
  return [...stdout.matchAll(/^n(.+):(\d+)$/gm)].map(([, address = '', port]) => ({
    host: address.replace(/^\[|\]$/g, ''),
    port: Number(port),
  }))
}

function byKernel(pid: number): ListeningSocket[] {
  const mine = new Set(readdirSync(`/proc/${pid}/fd`).map(fd => target(`/proc/${pid}/fd/${fd}`)))
  const rows = ['tcp', 'tcp6'].flatMap(table => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'))
  return rows
    .map(row => row.trim().split(/\s+/))
    .filter(fields => fields[3] === '0A' && mine.has(`socket:[${fields[9]}]`))
    .map(([, address = '']) => socketOf(address))
}

/** Parses an address of the kernel's table: hexadecimal, with its bytes in reverse order. */
function socketOf(address: string): ListeningSocket {
  const [hex = '', port = ''] = address.split(':')
  const bytes = Buffer.from(hex, 'hex').reverse()
  const ip = bytes.length === 4 ? bytes.join('.') : hex
  return { host: ip, port: Number.parseInt(port, 16) }
}

function target(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
