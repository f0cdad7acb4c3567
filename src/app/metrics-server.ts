import { bodyMemory } from '../derive/http/body-memory.ts'
import { counterInMemory } from '../derive/http/rate-limit.ts'
import { published } from '../kernel/contract/area.ts'
import { printLine } from '../platform/output.ts'
import { connectionLimits } from './connections.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { apiServer } from './server.ts'
import { listenerFor } from './service.ts'

const PATHS = ['/health', '/metrics']

export async function serveMetrics(runtime: OpenRuntime): Promise<Part[]> {
  const { areas, settings } = runtime
  const { metricsPort, host } = settings
  if (metricsPort === undefined) return []
  const operations = published(areas).filter(({ operation }) => PATHS.includes(operation.path))
  const handler = listenerFor(runtime, operations, {
    counter: counterInMemory(),
    bodies: bodyMemory(0),
    uploads: bodyMemory(0),
    stopping: new AbortController().signal,
  })
  const server = apiServer(handler, connectionLimits(settings))
  const { port } = await server.listen(metricsPort, host)
  printLine(`Metrics on ${host} port ${port}`)
  return [{ stop: server.close }]
}
