import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, isLost } from '../kernel/database/retry.ts'

const AGAIN_AFTER = 500
/** How often it is said that the database is still away: tries. */
const SAID_EVERY = 60

export interface Waiting {
  readonly tell: (line: string) => void
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/**
 * Does what a process begins with, once its database is there. One that is away is waited for, as running processes do;
 * one that answers but does not let us in, or is not what it should be, is an error at once.
 */
export async function onceReachable<T>(
  url: string,
  { tell, signal }: Waiting,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isLost(error)) throw error
      if (tries % SAID_EVERY === 0) tell(waitingFor(url, error))
      await pause(AGAIN_AFTER, undefined, { signal })
    }
  }
}

/** The address without the password. */
function waitingFor(url: string, error: unknown): string {
  const { hostname, port } = new URL(url)
  const why = codeOf(error) || (error as Error).message
  return `PostgreSQL at ${hostname}:${port || 5432} cannot be reached (${why}). Waiting for it.`
}
