import diagnostics from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { TestEnvironment } from 'jest-environment-node'
import { callHost } from './service-host.js'

/**
 * Ends an idle worker at once. Otherwise Node first tears down its heap, which on a busy machine takes longer
 * than the half second after which Jest calls a worker stuck. A worker with open handles is still detected.
 */
process.once('beforeExit', () => process.exit())

/** Fails the test during which something deprecated is used, such as a query on a client of `pg` that is still busy. */
process.throwDeprecation = true

const DAY_MS = 86_400_000
/** No test file takes this long, unless the machine is very busy. */
const FILE_MS = 180_000

/** A file that would run past midnight UTC waits until then, so that its tests see one day. */
async function withinOneDay() {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < FILE_MS) await sleep(left + 1_000)
}

/** Where Node's `fetch` keeps its connections. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** Ends the connections that `fetch` keeps open. Each would keep all modules of its file in memory. */
async function endFetches() {
  const agent = globalThis[DISPATCHER]
  if (!agent) return
  globalThis[DISPATCHER] = new agent.constructor()
  await agent.destroy()
}

const { subscribe, unsubscribe } = diagnostics
const subscribed = []
diagnostics.subscribe = (name, listener) => {
  subscribed.push([name, listener])
  subscribe(name, listener)
}

/** What the modules of a file listen to in the process would keep all of them in memory, too. */
function endListening() {
  for (const [name, listener] of subscribed.splice(0)) unsubscribe(name, listener)
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
}

/**
 * Removes Jest's source map lookups in stack traces: nothing is compiled, and Temporal's SDK takes so many
 * stack traces that they would be slow.
 */
export default class Environment extends TestEnvironment {
  async setup() {
    await withinOneDay()
    await super.setup()
    Error.prepareStackTrace = undefined
    this.global.callHostOfWorker = callHost
  }

  async teardown() {
    await super.teardown()
    await endFetches()
    endListening()
  }
}
