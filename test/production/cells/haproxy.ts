import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../src/dev/processes/free-port.ts'
import { type Running, start } from '../../bench/child.ts'
import { findProgram } from '../../support/processes/debian-program.ts'
import { until } from '../../support/until.ts'

const CONFIGURATION = 'haproxy-config/cells.cfg'
const PACKAGES = ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1']
const CERTIFICATES = '/etc/haproxy/certs/'
const PUBLIC = `bind :443 ssl crt ${CERTIFICATES}`

export interface RunningProxy {
  readonly url: string
  readonly process: Running
}

/**
 * Runs HAProxy with the configuration that operators use, but for its addresses: each address of the file is one of
 * this machine, and it listens without TLS.
 */
export async function startProxy(
  folder: string,
  addresses: ReadonlyMap<string, string>,
): Promise<RunningProxy> {
  const port = await freePort(0)
  const { file, path, env } = checkConfiguration(
    folder,
    new Map([[PUBLIC, `bind 127.0.0.1:${port}`], ...addresses]),
  )
  const command = [path, '-db', '-f', file]
  const process = await start({ command, log: join(folder, 'haproxy.log'), env }, /^/)
  const url = `http://127.0.0.1:${port}`
  await until('HAProxy answers', () => fetch(url).catch(() => undefined))
  return { url, process }
}

/** Throws unless HAProxy accepts the file that operators use, without a warning, with this certificate and its key. */
export function checkWithCertificate(folder: string, certificate: string): void {
  const certificates = join(folder, 'certs')
  mkdirSync(certificates)
  writeFileSync(join(certificates, 'pay.pem'), certificate)
  checkConfiguration(folder, new Map([[CERTIFICATES, certificates]]))
}

/** Throws unless HAProxy accepts the configuration with other texts in the place of some. */
function checkConfiguration(folder: string, changes: ReadonlyMap<string, string>) {
  const text = [...changes].reduce(
    (result, [theirs, ours]) => replaced(result, theirs, ours),
    readFileSync(CONFIGURATION, 'utf8'),
  )
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, text)
  const { path, env } = findProgram('usr/sbin/haproxy', PACKAGES, folder)
  execFileSync(path, ['-c', '-dW', '-f', file], { env, encoding: 'utf8' })
  return { file, path, env }
}

function replaced(text: string, theirs: string, ours: string): string {
  if (!text.includes(theirs)) throw new Error(`${CONFIGURATION} has no ${theirs}`)
  return text.replace(theirs, ours)
}
