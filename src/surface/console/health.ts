import { healthApi } from '../health/index.ts'
import type { PageRequest } from './page.ts'

/** What is wrong with the service, in a sentence; undefined while all is well. */
export async function healthInWords({ ask }: PageRequest): Promise<string | undefined> {
  const { checks } = await ask(healthApi.health)
  if (checks.temporal === 'unreachable')
    return 'Temporal cannot be reached: what waits for a process goes on when it is back. Nothing is lost.'
  const seconds = checks.relay.oldestSeconds ?? 0
  return seconds > 60
    ? `Processes are ${Math.round(seconds / 60)} min behind: the relay is not keeping up.`
    : undefined
}
