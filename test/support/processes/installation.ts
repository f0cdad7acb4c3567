import { isRunning as isProcessRunning } from '../../../src/dev/processes/process-table.ts'
import type { Launched } from './launched.ts'
import { type OwnTemporal, ownTemporal } from './own-servers.ts'
import { type Api, startApi, startPart } from './processes.ts'

type Name = 'api' | 'relay' | 'worker'

/** API, relay, worker and Temporal on one database: separate processes that a test kills and restarts. */
export interface Installation {
  readonly temporal: OwnTemporal
  /** The current API process: each one has its own address. */
  readonly api: Api
  outputs(): string[]
  startMissing(): Promise<void>
  kill(name: Name): Promise<void>
}

interface Options {
  /** False if Temporal need not survive a restart. */
  readonly durable?: boolean
  /** Returns the address that relay and worker use instead of Temporal's, such as a proxy's. */
  readonly through?: (address: string) => Promise<string>
  readonly env?: Record<string, string>
}

/** Starts an installation with its own Temporal, as installations use the same task queue. */
export async function startInstallation(
  databaseUrl: string,
  { durable = true, through, env = {} }: Options = {},
): Promise<Installation> {
  const temporal = await ownTemporal({ durable })
  const address = (await through?.(temporal.address)) ?? temporal.address
  const running = new Map<Name, Launched>()
  const start = (name: Name): Promise<Launched> =>
    name === 'api' ? startApi(databaseUrl, env) : startPart(name, databaseUrl, address, env)
  const isRunning = (name: Name): boolean => isProcessRunning(running.get(name)?.pid ?? 0)
  return {
    temporal,
    get api() {
      return running.get('api') as Api
    },
    outputs: () => [...running.values()].map(process => process.output()),
    async startMissing() {
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
