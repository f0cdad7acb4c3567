import { isAlive, type Launched } from './launched.ts'
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
  /** Starts it in place of the one that runs, with a way to Temporal that leads through this address. */
  detour(name: 'relay' | 'worker', address: string): Promise<void>
}

/** With a Temporal of its own, as all installations have one task queue. */
export async function install(
  databaseUrl: string,
  options: { durable?: boolean } = {},
): Promise<Installation> {
  const temporal = await ownTemporal(options)
  const running = new Map<Name, Launched>()
  const detoured = new Set<Name>()
  const start = (name: Name, address = temporal.address): Promise<Launched> =>
    name === 'api' ? startApi(databaseUrl) : startPart(name, databaseUrl, address)
  const isWhole = (name: Name): boolean => isAlive(running.get(name)?.pid ?? 0) && !detoured.has(name)
  const kill = async (name: Name): Promise<void> => {
    running.get(name)?.kill('SIGKILL')
    await running.get(name)?.exit
  }
  const replace = async (name: Name, address?: string): Promise<void> => {
    await kill(name)
    running.set(name, await start(name, address))
  }
  return {
    temporal,
    get api() {
      return running.get('api') as Api
    },
    kill,
    async whole() {
      await temporal.start()
      const missing = (['api', 'relay', 'worker'] as const).filter(name => !isWhole(name))
      await Promise.all(missing.map(name => replace(name)))
      detoured.clear()
    },
    async detour(name, address) {
      detoured.add(name)
      await replace(name, address)
    },
  }
}
