import { setTimeout as sleep } from 'node:timers/promises'
import { complain, say } from './output.ts'

type Close = () => unknown

/** What a process has open, and the way to its end. */
export interface Lifetime {
  /** Remembers what to close; what was opened last is closed first. */
  closeLater(close: Close): void
  /** Aborted when the way to the end begins: whoever still waits for something need not. */
  readonly ending: AbortSignal
  end(code: number): void
}

const CLOSE_MS = 5_000
const ALL_MS = 9_500

/** npm and the terminal may each deliver the same Ctrl-C. */
const SAME_SIGNAL_MS = 500

const DAY_MS = 86_400_000

/** Runs until a signal, a failure to start or the end of the process that launched it; then closes all. */
export function live(start: (life: Lifetime) => Promise<void>): void {
  const closers: Close[] = []
  const ending = new AbortController()
  let endingSince: number | null = null

  function end(code: number): void {
    if (endingSince !== null) return
    endingSince = performance.now()
    ending.abort()
    setTimeout(() => process.exit(1), ALL_MS).unref()
    void atMost(() => started)
      .then(() => closeAll(closers))
      .then(() => process.exit(code))
  }

  function signalled(): void {
    if (endingSince === null) say('Stopping; a second signal stops at once.')
    else if (performance.now() - endingSince > SAME_SIGNAL_MS) process.exit(1)
    end(0)
  }

  // Nothing else may hold us: a relay whose database or Temporal is away has only pauses, which hold nobody.
  setInterval(() => undefined, DAY_MS)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, signalled)
  whenOrphaned(() => end(0))
  const started = start({ closeLater: close => closers.push(close), ending: ending.signal, end }).catch(
    error => {
      // What fails once we are ending fails because of that.
      if (endingSince === null) complain(error.message)
      end(1)
    },
  )
}

async function closeAll(closers: Close[]): Promise<void> {
  for (const close of closers.reverse()) await atMost(close)
}

async function atMost(work: Close): Promise<void> {
  const done = Promise.resolve()
    .then(work)
    .catch(error => complain(`While stopping: ${error.message}`))
  await Promise.race([done, sleep(CLOSE_MS)])
}

/** npm cannot tell us that it was killed; a new parent does. */
function whenOrphaned(react: () => void): void {
  const parent = Number(process.env.LAUNCHED_BY)
  if (parent) setInterval(() => process.ppid === parent || react(), 250).unref()
}
