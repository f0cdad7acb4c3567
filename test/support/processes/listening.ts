import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { host } from '../../../src/dev/host.mjs'

/** Where a process listens by IPv4 and IPv6, as the kernel or `lsof` tells it: a loopback address of IPv4 begins with `127.`. */
export interface Socket {
  readonly host: string
  readonly port: number
}

export const listensOn = (pid: number): Socket[] => (host.hasProc ? byKernel(pid) : byLsof(pid))

function byLsof(pid: number): Socket[] {
  const asked = ['-nP', '-a', '-p', String(pid), '-iTCP', '-sTCP:LISTEN', '-Fn']
  const { stdout } = spawnSync('lsof', asked, { encoding: 'utf8' })
  return [...stdout.matchAll(/^n(.+):(\d+)$/gm)].map(([, address = '', port]) => ({
    host: address.replace(/^\[|\]$/g, ''),
    port: Number(port),
  }))
}

function byKernel(pid: number): Socket[] {
  const mine = new Set(readdirSync(`/proc/${pid}/fd`).map(fd => target(`/proc/${pid}/fd/${fd}`)))
  const rows = ['tcp', 'tcp6'].flatMap(table => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'))
  return rows
    .map(row => row.trim().split(/\s+/))
    .filter(fields => fields[3] === '0A' && mine.has(`socket:[${fields[9]}]`))
    .map(([, address = '']) => socketOf(address))
}

/** The kernel writes the first number of an address last, and all in hexadecimal. */
function socketOf(address: string): Socket {
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
