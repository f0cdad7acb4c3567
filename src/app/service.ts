import type { RequestListener } from 'node:http'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { type BodyMemory, bodyMemory } from '../derive/http/body-memory.ts'
import { requestPipeline } from '../derive/http/pipeline.ts'
import type { RateLimit } from '../derive/http/rate-limit.ts'
import { clientAddress, requestHostAmong, trustedProxies } from '../derive/http/raw-request.ts'
import { mountRoutes } from '../derive/http/routes.ts'
import { createRunLookup } from '../derive/http/run-header.ts'
import { deleteExpiredRows } from '../kernel/background/sweep.ts'
import { publishedOperations } from '../kernel/contract/area.ts'
import { operationClass, type RegisteredOperation } from '../kernel/contract/operation.ts'
import { lazily } from '../values/lazily.ts'
import { connectionLimits } from './connections.ts'
import { middleware as ownMiddleware } from './middleware.ts'
import { Reader } from './reader.ts'
import { type OpenRuntime, openRuntime, type RuntimeOptions, type Stoppable } from './runtime.ts'
import { apiServer } from './server.ts'

export interface Service {
  readonly runtime: OpenRuntime
  listen(port: number, host: string): Promise<number>
  stop(): Promise<void>
}

const SWEEP_EVERY = 600_000
const MIB = 1_048_576

interface ServiceOptions extends Omit<RuntimeOptions, 'openReader'> {
  /** Costly reads run in a thread. */
  readonly readsInThread?: boolean
  readonly middleware?: readonly RequestHandler[]
}

export async function openService({
  readsInThread,
  middleware = ownMiddleware,
  ...options
}: ServiceOptions): Promise<Service> {
  const runtime = await openRuntime({
    ...options,
    ...(readsInThread && { openReader: parts => new Reader(parts) }),
  })
  const { areas, database, metrics, rateLimit, settings } = runtime
  const sweeping = startSweeping(runtime)
  const bodies = bodyMemory(settings.bodyMemoryMib * MIB)
  const uploads = bodyMemory(settings.uploadMemoryMib * MIB)
  const limits = { ...connectionLimits(settings), ...options.patience }
  const stopping = new AbortController()
  const parts = { rateLimit, bodies, uploads, stopping: stopping.signal, middleware }
  const server = apiServer(requestListener(runtime, publishedOperations(areas), parts), limits)
  metrics.watch('http_connections', 'Connections of clients.', async () => server.connections())
  const taken = async () => bodies.reservedBytes() + uploads.reservedBytes()
  metrics.watch('http_body_bytes', 'Memory used for large request bodies in transit.', taken)
  return {
    runtime,
    async listen(port, host) {
      const at = await server.listen(port, host)
      runtime.addresses.listensAt(at.address, at.port)
      return at.port
    },
    async stop() {
      stopping.abort()
      await sweeping.stop()
      await server.close()
      await runtime.streams.stop()
      await Promise.all([runtime.threads.stop(), runtime.reader?.stop()])
      await database.close()
    },
  }
}

interface ListenerParts {
  readonly rateLimit: RateLimit
  readonly bodies: BodyMemory
  readonly uploads: BodyMemory
  readonly stopping: AbortSignal
  readonly middleware: readonly RequestHandler[]
}

export function requestListener(
  runtime: OpenRuntime,
  operations: readonly RegisteredOperation[],
  { stopping, middleware, ...parts }: ListenerParts,
): RequestListener {
  const { addresses, credentialWatch, areas, database, execute, gate, ports, receiveFor, settings } = runtime
  const isProxy = trustedProxies(settings.trustProxy)
  const { serve, refuse } = requestPipeline({
    execute,
    gate,
    credentialWatch,
    stopping,
    ...parts,
    systems: ports.systems,
    addressOf: request => clientAddress(request, isProxy),
    hostOf: requestHostAmong(addresses.hosts),
    // At the first request the address is known, and stays the same.
    pageOrigins: lazily(() => ports.service.relyingParty().origins),
    ownUrls: lazily(addresses.urls),
    isOwn: addresses.isOwn,
    runNamed: createRunLookup(areas, database),
    receiveFor,
    ...reporting(runtime),
  })
  const app = express().disable('x-powered-by').disable('etag')
  if (middleware.length > 0) app.use(...middleware)
  mountRoutes(app, operations, serve)
  // Where no route answers, an error included, Express calls this in place of its own page.
  const refused = (request: Request, response: Response) => (error: unknown) => {
    refuse(request, response, error).catch((failure: unknown) => {
      runtime.log.error({ err: failure }, 'refusal failed')
      response.destroy()
    })
  }
  return (request, response) => {
    const asked = request as Request
    const answer = response as Response
    app(asked, answer, refused(asked, answer))
  }
}

function reporting({
  log,
  metrics,
  operations,
}: OpenRuntime): Pick<Parameters<typeof requestPipeline>[0], 'onServed' | 'onFailure'> {
  const classes = new Map(operations.map(({ key, operation }) => [key, operationClass(operation)]))
  return {
    onServed(served) {
      metrics.served({ ...served, class: classes.get(served.operation ?? '') ?? 'none' })
      // Load balancers ask each process every second.
      const isGoodCheck = served.operation === 'health.health' && served.status === 200
      log[isGoodCheck ? 'debug' : 'info'](served)
    },
    onFailure: (error, requestId) => log.error({ err: error, requestId }, 'request failed'),
  }
}

/** In each API process: without Temporal, too, there are partitions for the events of the coming months. */
function startSweeping({ areas, database, log }: OpenRuntime): Stoppable {
  const warn = (error: unknown) => log.warn({ err: error }, 'sweep failed')
  const round = setInterval(() => void deleteExpiredRows(database, areas).catch(warn), SWEEP_EVERY).unref()
  return {
    async stop() {
      clearInterval(round)
    },
  }
}
