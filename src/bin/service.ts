import express from 'express'
import { gate } from '../derive/authenticate.ts'
import { pipeline } from '../derive/pipeline.ts'
import { counterInDatabase, counterInMemory, rateLimit } from '../derive/rate-limit.ts'
import { router } from '../derive/routes.ts'
import { runHeader } from '../derive/run-header.ts'
import { published } from '../kernel/area.ts'
import { sweep } from '../kernel/sweep.ts'
import { type HouseOptions, type OpenHouse, openHouse } from './house.ts'
import { type Sandbox, seedSandbox } from './sandbox.ts'
import { apiServer } from './server.ts'

export interface Service {
  readonly house: OpenHouse
  listen(port: number, host: string): Promise<number>
  seedSandbox(known: Sandbox | null): Promise<Sandbox>
  /** Stops accepting, finishes what is in flight, closes the pool. */
  stop(): Promise<void>
}

const SWEEP_EVERY = 600_000

/** The API, wired and not yet listening. */
export async function openService(options: HouseOptions): Promise<Service> {
  const house = await openHouse(options)
  const { areas, database, execute, operations, settings } = house
  const doorkeeper = gate(areas, database, settings.dashboardSecret)
  const app = express()
  app.disable('x-powered-by').disable('etag').set('trust proxy', settings.trustProxy)
  app.use(
    pipeline({
      execute,
      find: router(published(areas)),
      gate: doorkeeper,
      runNamed: runHeader(areas, database),
      rateLimit: rateLimit(
        settings.rateLimitPerMinute,
        options.shared ? counterInDatabase(database) : counterInMemory(),
      ),
      ...observing(house),
    }),
  )
  const sweeping = sweepNowAndThen(house)
  const server = apiServer(app)
  return {
    house,
    listen: server.listen,
    seedSandbox: known => seedSandbox(known, { execute, operations, gate: doorkeeper }),
    async stop() {
      clearInterval(sweeping)
      await server.close()
      await database.close()
    },
  }
}

/** What the log and the figures are told. */
const observing = ({
  log,
  metrics,
}: OpenHouse): Pick<Parameters<typeof pipeline>[0], 'onServed' | 'onFailure'> => ({
  onServed(served) {
    metrics.served(served.operation, served.status, served.milliseconds)
    log.info(served)
  },
  onFailure: (error, requestId) => log.error({ err: error, requestId }, 'request failed'),
})

const sweepNowAndThen = ({ database, log }: OpenHouse): NodeJS.Timeout =>
  setInterval(() => {
    sweep(database).catch((error: unknown) => log.warn({ err: error }, 'sweep failed'))
  }, SWEEP_EVERY).unref()
