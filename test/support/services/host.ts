import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '../database.ts'
import { type OpenedServices, openServices, type Place, type PlainOptions } from './open.ts'
import { type ProcessorTime, watchTurns } from './turns.ts'

/**
 * The process beside a Jest worker that runs the services of its test files. Each test file loads its modules
 * anew, and the service is 1,500 modules: here they are loaded once.
 */

export interface HostCalls {
  /** The service shared by test files without options, started with the first of them. */
  shared(): Promise<Place & { readonly url: string; readonly number: number }>
  open(place: Place, options: PlainOptions): Promise<{ readonly url: string; readonly number: number }>
  another(number: number): Promise<string>
  stop(number: number): Promise<void>
  watchTurns(): Promise<void>
  /** Since `watchTurns`. */
  turns(): Promise<ProcessorTime>
}

const opened = new Map<number, OpenedServices>()
let lastNumber = 0
let shared: ReturnType<HostCalls['shared']> | undefined
let endOfWatch: (() => ProcessorTime) | undefined

const calls: HostCalls = {
  shared() {
    shared ??= openShared()
    return shared
  },
  async open(place, options) {
    const services = openServices(place, options)
    const number = ++lastNumber
    opened.set(number, services)
    return { url: await services.another(), number }
  },
  another: number => servicesOf(number).another(),
  stop(number) {
    const services = servicesOf(number)
    opened.delete(number)
    return services.stop()
  },
  async watchTurns() {
    // Failed work has left its watch.
    endOfWatch?.()
    endOfWatch = watchTurns()
  },
  async turns() {
    if (!endOfWatch) throw new Error('nothing is watched')
    return endOfWatch()
  },
}

async function openShared(): ReturnType<HostCalls['shared']> {
  const place = {
    databaseUrl: await createDatabase('shared'),
    filesDir: mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'files-')),
  }
  return { ...place, ...(await calls.open(place, { readsInThread: true })) }
}

function servicesOf(number: number): OpenedServices {
  const services = opened.get(number)
  if (!services) throw new Error(`there is no service ${number}`)
  return services
}

interface Message {
  readonly id: number
  readonly call: keyof HostCalls
  readonly args: readonly unknown[]
}

process.on('message', ({ id, call, args }: Message) => {
  const answered = (calls[call] as (...given: readonly unknown[]) => Promise<unknown>)(...args)
  answered.then(
    value => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.stack : String(error) }),
  )
})
// The worker has ended.
process.on('disconnect', () => process.exit())
