import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { ApiCall } from '../contract/call.ts'
import { Problem } from '../contract/problem.ts'
import { readCommitOutcome, UnknownCommitOutcome } from '../database/connection.ts'
import type { Database } from '../database/prepared-sql.ts'

/** More answers than this are lost with the connection: each holds the body that another system has sent. */
const MAX_UNRECORDED = 1_000
const AGAIN_MS = 500
/** How long a request, or the step of a run, waits for an unavailable database; its answer is kept for longer. */
export const ANSWER_AWAITED_MS = 5_000
const STOP_MS = 3_000

/** Called when an answer is kept, and with what became of it. It never gets the answer itself. */
export type UnrecordedReport = (
  call: Pick<ApiCall, 'operation' | 'requestId'>,
  now: 'kept' | 'recorded' | 'lost',
  error?: unknown,
) => void

/**
 * The answers of other systems that the database could not take. Each is recorded when the database is back,
 * for as long as the process lives. If another request or a run has decided the record first, that changes
 * nothing.
 */
export class UnrecordedAnswers {
  readonly #database: Database
  readonly #report: UnrecordedReport
  readonly #kept = new Set<Promise<unknown>>()
  readonly #stopping = new AbortController()

  constructor(database: Database, report: UnrecordedReport) {
    this.#database = database
    this.#report = report
  }

  get count(): number {
    return this.#kept.size
  }

  /** Records an answer. `leave` is called where that takes longer than a request waits. */
  async record<T>(call: ApiCall, work: () => Promise<T>, leave: (reason: Problem) => void): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!isRetryable(error) || this.#kept.size >= MAX_UNRECORDED) throw error
      const recording = this.#again(error, work)
      this.#kept.add(recording)
      this.#report(call, 'kept')
      const cancel = clock.alarm(ANSWER_AWAITED_MS, () => leave(outcomeUnknown()))
      recording
        .then(
          () => this.#report(call, 'recorded'),
          reason => this.#report(call, this.#outcomeOf(reason), reason),
        )
        .finally(() => {
          cancel()
          this.#kept.delete(recording)
        })
      return recording
    }
  }

  async stop(): Promise<void> {
    const all = Promise.allSettled(this.#kept)
    await Promise.race([all, pause(STOP_MS, undefined, { ref: false })])
    this.#stopping.abort()
    await all
  }

  /** A commit whose outcome was learnt late has been recorded, although its result is lost. */
  #outcomeOf(reason: unknown): 'recorded' | 'lost' {
    return reason instanceof UnknownCommitOutcome && !this.#stopping.signal.aborted ? 'recorded' : 'lost'
  }

  async #again<T>(first: unknown, work: () => Promise<T>): Promise<T> {
    for (let error = first; ; ) {
      await pause(AGAIN_MS, undefined, { ref: false })
      if (this.#stopping.signal.aborted || !isRetryable(error)) throw error
      const fate =
        error instanceof UnknownCommitOutcome
          ? await readCommitOutcome(this.#database, error.trace)
          : 'aborted'
      // The next request with the key finds what was committed.
      if (fate === 'committed') throw error
      if (fate === undefined) continue
      try {
        return await work()
      } catch (reason) {
        error = reason
      }
    }
  }
}

const outcomeUnknown = (): Problem => new Problem('outcome_unknown', undefined, { 'Retry-After': '5' })

const isRetryable = (error: unknown): boolean =>
  error instanceof UnknownCommitOutcome
    ? error.trace.event !== undefined
    : error instanceof Problem && (error.code === 'unavailable' || error.code === 'busy')
