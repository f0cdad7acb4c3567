import { bodyRoom } from '../derive/http/body-room.ts'
import { counterInMemory } from '../derive/http/rate-limit.ts'
import { published } from '../kernel/contract/area.ts'
import { say } from '../platform/output.ts'
import { connectionLimits } from './connections.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { apiServer } from './server.ts'
import { answering } from './service.ts'

const SHOWN = ['/health', '/metrics']

/** How a process that serves no API is: by two of its operations, where that is wished for. */
export async function showFigures(runtime: OpenRuntime): Promise<Part[]> {
  const { areas, settings } = runtime
  const { metricsPort, host } = settings
  if (metricsPort === undefined) return []
  const operations = published(areas).filter(({ operation }) => SHOWN.includes(operation.path))
  const handler = answering(runtime, operations, counterInMemory(), bodyRoom(0))
  const server = apiServer(handler, connectionLimits(settings))
  say(`Figures on ${host} port ${await server.listen(metricsPort, host)}`)
  return [{ stop: server.close }]
}
