#!/usr/bin/env node
// Runs on any Node: a recent one runs the command in this process, an older one starts the Node of the
// lockfile.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasCommandTable } from './command-table.mjs'

const checkout = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const program = join(checkout, 'src/bin/agentpay.ts')
const cache = join(checkout, 'node_modules/.cache/agent-payments/compiled')

/** npm runs its scripts in the checkout, but paths in arguments are relative to the caller's folder. */
const { INIT_CWD, npm_lifecycle_event: script } = process.env
if (script === 'agentpay' && INIT_CWD && existsSync(INIT_CWD)) process.chdir(INIT_CWD)

/** At the first use, and when the contracts have changed. What it prints is no output of the command. */
async function writeCommandTable() {
  const { spawnSync } = await import('node:child_process')
  const launcher = join(checkout, 'src/bin/launcher/launch.mjs')
  const { status } = spawnSync(process.execPath, [launcher, 'commands'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(1)
}

if (!hasCommandTable(checkout)) await writeCommandTable()
if (Number.parseInt(process.versions.node, 10) >= 24) {
  if (existsSync(join(checkout, 'node_modules'))) module.enableCompileCache?.(cache)
  await import('../agentpay.ts')
} else {
  const { runElsewhere } = await import('./run-elsewhere.mjs')
  await runElsewhere({ checkout, program, cache })
}
