import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { host } from '../../dev/host.mjs'

export function projectNode() {
  const bundled = resolve(`node_modules/${host.packages.node}/bin/node`)
  if (spawnSync(bundled, ['--version']).status === 0) return bundled
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath
  throw new Error(`No Node comes along for ${host.name}: use one of your own, 24 or later.`)
}

/** Replaces this process with another program. If Node cannot do that, waits for the program to end. */
export function handOver(args) {
  const node = projectNode()
  if (process.execve) process.execve(node, [node, ...args], environment(runByNpm ? process.ppid : ''))
  standInFront(spawn(node, args, { stdio: 'inherit', env: environment(process.pid) }))
}

const runByNpm = process.env.npm_lifecycle_event !== undefined

/**
 * The service ends when the process LAUNCHED_BY does. Compiled sources are cached beside them, which halves
 * the time of the second start.
 */
const environment = launcher => ({
  NODE_COMPILE_CACHE: resolve('node_modules/.cache/agent-payments/compiled'),
  ...process.env,
  LAUNCHED_BY: String(launcher),
})

function standInFront(child) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const parent = process.ppid
  if (runByNpm) setInterval(() => process.ppid === parent || child.kill(), 250).unref()
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
