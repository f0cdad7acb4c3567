import { createServer, type Server } from 'node:http'
import express from 'express'
import { areas as allAreas } from '../areas.ts'
import { gate } from '../derive/authenticate.ts'
import { pipeline } from '../derive/pipeline.ts'
import { counterInDatabase, counterInMemory, rateLimit } from '../derive/rate-limit.ts'
import { refuseConnection } from '../derive/respond.ts'
import { router } from '../derive/routes.ts'
import { type Areas, registered } from '../kernel/area.ts'
import { type House, reactionsOf } from '../kernel/house.ts'
import { Cursors } from '../kernel/page.ts'
import { migrate, openDatabase } from '../platform/database.ts'
import { openLog } from '../platform/log.ts'
import { openMetrics } from '../platform/metrics.ts'
import type { Settings } from '../platform/settings.ts'
import { portsOf } from './ports.ts'
import { type Sandbox, seedSandbox } from './sandbox.ts'

export type ServiceSettings = Settings & { databaseUrl: string; dashboardSecret: string; secretKey: string }

export interface Service {
  listen(port: number, host: string): Promise<number>
  seedSandbox(known: Sandbox | null): Promise<Sandbox>
  /** Stops accepting, finishes what is in flight, closes the pool. */
  stop(): Promise<void>
}

interface Options {
  readonly settings: ServiceSettings
  /** Several processes serve this database: they count requests together. */
  readonly shared?: boolean
  readonly areas?: Areas
}

/** The API, migrated and wired, not yet listening. */
export async function openService({ settings, shared = false, areas = allAreas }: Options): Promise<Service> {
  const { databaseUrl, dashboardSecret, secretKey } = settings
  const log = openLog(settings.logLevel, [dashboardSecret, secretKey])
  await migrate(databaseUrl)
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
  const doorkeeper = gate(areas, database, dashboardSecret)
  const operations = registered(areas)
  const app = express()
  app.disable('x-powered-by').disable('etag').set('trust proxy', settings.trustProxy)
  app.use(
    pipeline({
      house,
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
  const server = createServer(app).on('clientError', refuseConnection)
  return {
    listen: (port, host) => listen(server, port, host),
    seedSandbox: known => seedSandbox(known, { house, operations, gate: doorkeeper }),
    async stop() {
      await close(server)
      await database.close()
    },
  }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}

/** Idle connections go at once; busy ones after their answer. */
function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    if (!server.listening) return resolve()
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
