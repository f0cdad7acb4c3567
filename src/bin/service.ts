import express from 'express'
import { areas as allAreas } from '../areas.ts'
import { gate } from '../derive/authenticate.ts'
import { pipeline } from '../derive/pipeline.ts'
import { counterInDatabase, counterInMemory, rateLimit } from '../derive/rate-limit.ts'
import { router } from '../derive/routes.ts'
import { type Areas, registered } from '../kernel/area.ts'
import { executor } from '../kernel/execute.ts'
import { type House, reactionsOf } from '../kernel/house.ts'
import { Cursors } from '../kernel/page.ts'
import { sweep } from '../kernel/sweep.ts'
import { migrate, openDatabase, requireMigrated } from '../platform/database.ts'
import { openLog } from '../platform/log.ts'
import { openMetrics } from '../platform/metrics.ts'
import type { Settings } from '../platform/settings.ts'
import { portsOf } from './ports.ts'
import { type Sandbox, seedSandbox } from './sandbox.ts'
import { apiServer } from './server.ts'

export type ServiceSettings = Settings & { databaseUrl: string; dashboardSecret: string; secretKey: string }

export interface Service {
  listen(port: number, host: string): Promise<number>
  seedSandbox(known: Sandbox | null): Promise<Sandbox>
  /** Stops accepting, finishes what is in flight, closes the pool. */
  stop(): Promise<void>
}

const SWEEP_EVERY = 600_000

interface Options {
  readonly settings: ServiceSettings
  /** Several processes serve this database: they count requests together, and none of them changes the schema. */
  readonly shared?: boolean
  readonly areas?: Areas
}

/** The API, wired and not yet listening. */
export async function openService({ settings, shared = false, areas = allAreas }: Options): Promise<Service> {
  const { databaseUrl, dashboardSecret, secretKey } = settings
  const log = openLog(settings.logLevel, [dashboardSecret, secretKey])
  await (shared ? requireMigrated : migrate)(databaseUrl)
  const entities = Object.values(areas).flatMap(area => area.entities)
  const database = await openDatabase(databaseUrl, entities, settings.databasePool)
  const metrics = openMetrics(database.pool)
  const house: House = {
    database,
    ports: portsOf({ areas, database, metrics, publicUrl: settings.publicUrl }),
    cursors: new Cursors(secretKey),
    reactions: reactionsOf(areas),
    onBatch: metrics.batch,
  }
  const execute = executor(house)
  const doorkeeper = gate(areas, database, dashboardSecret)
  const operations = registered(areas)
  const app = express()
  app.disable('x-powered-by').disable('etag').set('trust proxy', settings.trustProxy)
  app.use(
    pipeline({
      execute,
      find: router(operations),
      gate: doorkeeper,
      rateLimit: rateLimit(
        settings.rateLimitPerMinute,
        shared ? counterInDatabase(database) : counterInMemory(),
      ),
      onServed(served) {
        metrics.served(served.operation, served.status, served.milliseconds)
        log.info(served)
      },
      onFailure: (error, requestId) => log.error({ err: error, requestId }, 'request failed'),
    }),
  )
  const sweeping = setInterval(() => {
    sweep(database).catch((error: unknown) => log.warn({ err: error }, 'sweep failed'))
  }, SWEEP_EVERY).unref()
  const server = apiServer(app)
  return {
    listen: server.listen,
    seedSandbox: known => seedSandbox(known, { execute, operations, gate: doorkeeper }),
    async stop() {
      clearInterval(sweeping)
      await server.close()
      await database.close()
    },
  }
}
