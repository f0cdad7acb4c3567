import { bodyMemory } from '../derive/http/body-memory.ts'
import { createRateLimit, inMemoryRequestCounter } from '../derive/http/rate-limit.ts'
import { publishedOperations } from '../kernel/contract/area.ts'
import { printLine } from '../platform/output.ts'
import { connectionLimits } from './connections.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'
import { apiServer } from './server.ts'
import { requestListener } from './service.ts'

const PATHS = ['/health', '/metrics']

export async function serveMetrics(runtime: OpenRuntime): Promise<Stoppable[]> {
  const { areas, settings } = runtime
  const { metricsPort, host } = settings
  if (metricsPort === undefined) return []
  const operations = publishedOperations(areas).filter(({ operation }) => PATHS.includes(operation.path))
  const handler = requestListener(runtime, operations, {
    rateLimit: createRateLimit(settings.rateLimitPerMinute, inMemoryRequestCounter()),
    bodies: bodyMemory(0),
    uploads: bodyMemory(0),
    stopping: new AbortController().signal,
    middleware: [],
  })
  const server = apiServer(handler, connectionLimits(settings))
  const { port } = await server.listen(metricsPort, host)
  printLine(`Metrics on ${host} port ${port}`)
  return [{ stop: server.close }]
}
