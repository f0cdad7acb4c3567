import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { guardedChild } from '../../../src/dev/processes/guarded-child.ts'
import { beforeRemoval, temporaryFolder } from '../processes/folders.ts'
import { until } from '../until.ts'
import { findStripeMock } from './stripe-mock-binary.ts'

/** Without this it listens on all addresses of the machine, and over https too. */
const LOOPBACK = ['-http-addr', '127.0.0.1:0', '-https-addr', '127.0.0.1:0']

export interface StripeMock {
  readonly url: string
  readonly addresses: readonly string[]
}

export async function startStripeMock(): Promise<StripeMock> {
  const tell = (line: string) => void process.stdout.write(`${line}\n`)
  const binary = await findStripeMock({ env: process.env, tell })
  const cwd = temporaryFolder()
  const log = join(cwd, 'stripe-mock.log')
  const child = guardedChild([binary, ...LOOPBACK], { user: {}, cwd, log, signal: 'KILL' })
  beforeRemoval(async () => {
    child.end()
    await child.ended
  })
  const listening = () => [...readFileSync(log, 'utf8').matchAll(/Listening for HTTPS? at address: (\S+)/g)]
  const found = await until('stripe-mock listens', () => (listening().length === 2 ? listening() : null))
  const addresses = found.map(([, address]) => String(address))
  return { url: `http://${addresses[0]}`, addresses }
}
