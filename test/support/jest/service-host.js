import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../services/host.ts', import.meta.url))

const waiting = new Map()
let host
let calls = 0

/** Calls the process with the worker's services, and starts it before the first call. */
export function callHost(call, ...args) {
  host ??= startHost()
  calls++
  const id = calls
  // The process keeps the worker alive only while an answer is awaited.
  host.channel.ref()
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    host.send({ id, call, args })
  })
}

/** The run's limits of the garbage collector, which Jest hands to its workers. */
const isOfHeap = option => /^--(max-semi|initial-old)-space-size=/.test(option)

function startHost() {
  const child = fork(PROGRAM, {
    execArgv: ['--throw-deprecation', ...process.execArgv.filter(isOfHeap)],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child.unref()
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (waiting.size === 0) child.channel.unref()
    if (error === undefined) resolve(value)
    else reject(new Error(error))
  })
  child.on('exit', code => {
    host = undefined
    for (const { reject } of waiting.values())
      reject(new Error(`the process of the services ended (${code})`))
    waiting.clear()
  })
  return child
}
