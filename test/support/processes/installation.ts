import { isRunning as runs } from '../../../src/dev/processes/process-table.ts'
import type { Launched } from './launched.ts'
import { type OwnTemporal, ownTemporal } from './own-servers.ts'
import { type Api, startApi, startPart } from './processes.ts'

type Name = 'api' | 'relay' | 'worker'

/** API, relay, worker and Temporal on a database: each a process of its own, to be killed and started again. */
export interface Installation {
  readonly temporal: OwnTemporal
  /** The one that runs now: each has an address of its own. */
  readonly api: Api
  /** Starts what does not run. */
  whole(): Promise<void>
  /** `kill -9`; it is gone when this has come to its end. */
  kill(name: Name): Promise<void>
}

interface Options {
  /** False where Temporal is not to be started again. */
  readonly durable?: boolean
  /** What relay and worker are told in place of Temporal's address: that of a proxy, for one. */
  readonly through?: (address: string) => Promise<string>
}

/** With a Temporal of its own, as all installations have one task queue. */
export async function install(
  databaseUrl: string,
  { durable = true, through }: Options = {},
): Promise<Installation> {
  const temporal = await ownTemporal({ durable })
  const address = (await through?.(temporal.address)) ?? temporal.address
  const running = new Map<Name, Launched>()
  const start = (name: Name): Promise<Launched> =>
    name === 'api' ? startApi(databaseUrl) : startPart(name, databaseUrl, address)
  const isRunning = (name: Name): boolean => runs(running.get(name)?.pid ?? 0)
  return {
    temporal,
    get api() {
      return running.get('api') as Api
    },
    async whole() {
      await temporal.start()
      const missing = (['api', 'relay', 'worker'] as const).filter(name => !isRunning(name))
      await Promise.all(missing.map(async name => running.set(name, await start(name))))
    },
    async kill(name) {
      running.get(name)?.kill('SIGKILL')
      await running.get(name)?.exit
    },
  }
}
