import { setTimeout as sleep } from 'node:timers/promises'
import { printError, printLine } from './output.ts'

type Close = () => unknown

export interface ProcessLifetime {
  closeLater(close: Close): void
  /** Aborted when the process begins to end, so that waits stop early. */
  readonly ending: AbortSignal
  end(code: number): void
}

const CLOSE_MS = 5_000
const ALL_MS = 8_000

/** npm and the terminal may each deliver the same Ctrl-C. */
const SAME_SIGNAL_MS = 500

const DAY_MS = 86_400_000

export function runProcess(start: (life: ProcessLifetime) => Promise<void>): void {
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
    if (endingSince === null) printLine('Stopping; a second signal stops at once.')
    else if (performance.now() - endingSince > SAME_SIGNAL_MS) process.exit(1)
    end(0)
  }

  // Keeps the process alive: while the database or Temporal is down, a relay has only unreferenced timers.
  setInterval(() => undefined, DAY_MS)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, signalled)
  whenOrphaned(() => end(0))
  const started = start({ closeLater: close => closers.push(close), ending: ending.signal, end }).catch(
    error => {
      // The shutdown itself makes an interrupted start fail: nothing to report.
      if (endingSince === null) printError(error.message)
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
    .catch(error => printError(`While stopping: ${error.message}`))
  await Promise.race([done, sleep(CLOSE_MS)])
}

/** A killed npm sends no signal, but the parent process changes. */
function whenOrphaned(react: () => void): void {
  const parent = Number(process.env.LAUNCHED_BY)
  if (parent) setInterval(() => process.ppid === parent || react(), 250).unref()
}
