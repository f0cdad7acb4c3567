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
      if (!isLost(error)) throw refusedBy(url, error)
      if (tries % REPORT_EVERY === 0) tell(waitingFor(url, error))
      await pause(AGAIN_AFTER, undefined, { signal })
    }
  }
}

function waitingFor(url: string, error: unknown): string {
  const why = codeOf(error) || (error as Error).message
  return `PostgreSQL at ${placeOf(url)} cannot be reached (${why}). Waiting for it: start it, or change DATABASE_URL.`
}

/** What PostgreSQL says of a user, a password or a database (classes 28 and 3D) says not where, or what names it. */
function refusedBy(url: string, error: unknown): unknown {
  if (!/^(28|3D)/.test(codeOf(error))) return error
  const why = (error as Error).message
  return new Error(`PostgreSQL at ${placeOf(url)} (DATABASE_URL) refuses: ${why}.`, { cause: error })
}

/** The host and port only: the URL holds the password. */
function placeOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 5432}`
}
