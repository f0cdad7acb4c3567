import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { eventWriter } from './writing.ts'

const launcher = fileURLToPath(new URL('../../../src/bin/launcher/agentpay.mjs', import.meta.url))

const EVENTS = usualOrShort(100, 5)
const WARM_UP = usualOrShort(5, 1)
/** Longer than the pause of the journal's reader between two readings, so that nothing is in progress. */
const IDLE_MS = 60
const FIRST_MS = 100

/** The time of an event from before its COMMIT until the command has printed it, one after the other. */
export async function timesToTail(stage: Stage): Promise<{ readonly p50: number; readonly p99: number }> {
  const env = { PATH: process.env.PATH, ...stage.env, AGENTPAY_URL: stage.api.url, AGENTPAY_KEY: stage.token }
  const tail = spawn(process.execPath, [launcher, 'events', 'tail', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { write, end } = await eventWriter(stage)
  try {
    await firstLine(tail.stdout, () => write(1))
    const times: number[] = []
    for (let n = -WARM_UP; n < EVENTS; n++) {
      await pause(IDLE_MS)
      const began = performance.now()
      const line = once(tail.stdout, 'data')
      await write(1)
      await line
      if (n >= 0) times.push(performance.now() - began)
    }
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return { p50: at(0.5), p99: at(0.99) }
  } finally {
    tail.kill()
    await end()
  }
}

/** The command follows from when it has connected; earlier events do not count. */
async function firstLine(lines: NodeJS.ReadableStream, write: () => Promise<void>): Promise<void> {
  const come = once(lines, 'data')
  let isThere = false
  void come.then(() => {
    isThere = true
  })
  while (!isThere) {
    await write()
    await pause(FIRST_MS)
  }
}
