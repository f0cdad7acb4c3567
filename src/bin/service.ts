import type { RequestListener } from 'node:http'
import express from 'express'
import { type Gate, gate } from '../derive/authenticate.ts'
import { pipeline } from '../derive/pipeline.ts'
import { type Counter, counterInDatabase, counterInMemory, rateLimit } from '../derive/rate-limit.ts'
import { router } from '../derive/routes.ts'
import { runHeader } from '../derive/run-header.ts'
import { published, type Registered } from '../kernel/area.ts'
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
  const counter = options.shared ? counterInDatabase(database) : counterInMemory()
  const sweeping = sweepNowAndThen(house)
  const server = apiServer(answering(house, published(areas), doorkeeper, counter))
  return {
    house,
    listen: server.listen,
    seedSandbox: known => seedSandbox(known, { execute, operations, gate: doorkeeper }),
    async stop() {
      clearInterval(sweeping)
      await server.close()
      await house.threads.stop()
      await database.close()
    },
  }
}

/** What answers the requests for these operations. */
export function answering(
  house: OpenHouse,
  operations: readonly Registered[],
  doorkeeper: Gate,
  counter: Counter,
): RequestListener {
  const { areas, database, execute, settings } = house
  const app = express()
  app.disable('x-powered-by').disable('etag').set('trust proxy', settings.trustProxy)
  app.use(
    pipeline({
      execute,
      find: router(operations),
      gate: doorkeeper,
      runNamed: runHeader(areas, database),
      rateLimit: rateLimit(settings.rateLimitPerMinute, counter),
      ...observing(house),
    }),
  )
  return app
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
