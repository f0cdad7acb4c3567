import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, isLost } from '../kernel/database/retry.ts'

const AGAIN_AFTER = 500
/** The line about the unreachable database is repeated after this many attempts. */
const REPORT_EVERY = 60

export interface Waiting {
  readonly tell: (line: string) => void
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/**
 * Runs the first database work of a process, waiting for a database that cannot be reached. A database that refuses the
 * credentials or has the wrong version is an error at once.
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
      if (tries % REPORT_EVERY === 0) tell(waitingFor(url, error))
      await pause(AGAIN_AFTER, undefined, { signal })
    }
  }
}

/** Names the host and port only: the URL holds the password. */
function waitingFor(url: string, error: unknown): string {
  const { hostname, port } = new URL(url)
  const why = codeOf(error) || (error as Error).message
  return `PostgreSQL at ${hostname}:${port || 5432} cannot be reached (${why}). Waiting for it.`
}
