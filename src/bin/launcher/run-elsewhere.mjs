import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { host } from '../../dev/host.mjs'
import { install } from './install.mjs'

export async function runElsewhere({ checkout, program, cache }) {
  const node = join(checkout, 'node_modules', host.packages.node, 'bin/node')
  if (!existsSync(node)) await installIn(checkout)
  const child = spawn(node, [program, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', ({ message }) => {
    process.stderr.write(`Node 24 or newer is needed, and the one of the lockfile does not run: ${message}\n`)
    process.exitCode = 1
  })
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
}

async function installIn(checkout) {
  const folder = process.cwd()
  process.chdir(checkout)
  await install({ dev: false })
  process.chdir(folder)
}
