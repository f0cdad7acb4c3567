import { Problem } from '../../kernel/contract/problem.ts'
import { healthApi } from '../health/index.ts'
import type { OperationAnswer, PageRequest } from './page.ts'

type Health = OperationAnswer<typeof healthApi.health>

const healthByRequest = new WeakMap<PageRequest, Promise<Health>>()

function readHealth(request: PageRequest): Promise<Health> {
  const health = healthByRequest.get(request) ?? request.ask(healthApi.health)
  healthByRequest.set(request, health)
  return health
}

export async function describeHealth(request: PageRequest): Promise<string | undefined> {
  const { checks } = await readHealth(request)
  if (checks.temporal === 'unreachable')
    return 'Temporal is unreachable. Waiting processes continue when it is back; no data is lost.'
  const seconds = checks.relay.oldestSeconds ?? 0
  return seconds > 60
    ? `Background processes are ${Math.round(seconds / 60)} min behind: the relay does not keep up.`
    : undefined
}

/** Reports are computed for each page. If that takes too long, the page still shows what is urgent. */
export function busyAsUndefined(error: unknown): undefined {
  if (!(error instanceof Problem) || error.status !== 503) throw error
}
