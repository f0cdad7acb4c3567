import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  isCancellation,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import {
  type ProcessInput,
  type ProcessStatus,
  type RecordProcess,
  RUN_VERSION,
} from '../../src/kernel/contract/process.ts'
import { listOf060, type RunVisibility, runList } from './run-list.ts'
import {
  addNoteToTimeline,
  type WorkflowDetailsPage,
  workflowDetailsPage,
  workflowSummaryLine,
} from './run-page.ts'
import { handleRecordChanged, type SignalHandling } from './signals.ts'
import { handleSignals, localActivityFirst, proxyActivity, type StepsOf, stepsOf } from './steps.ts'

/** The pause before an overdue step is retried. */
const RETRY_AFTER_MS = 1_000

/** A record without a deadline is read again after this long, even without a signal that it changed. */
const DAY_MS = 86_400_000

export interface FollowedRecord<Status extends ProcessStatus> {
  /** Waits while the status has these members, or satisfies the predicate. `act` runs each time the record is due. */
  during(so: Partial<Status> | ((status: Status) => boolean), act: () => Promise<unknown>): Promise<void>
  /** Takes a step that lasts until the record is closed. After each signal the record is read, and the step begins anew. */
  through(act: () => Promise<unknown>): Promise<void>
}

interface Options {
  /**
   * Whether a closed record may open again: one that changed meanwhile is read once more. Defaults to that of
   * the process.
   */
  readonly recurs?: boolean
}

const CANNOT_BE_CANCELLED =
  'Request Cancellation changed nothing: the run goes on until its record has ended.'

/**
 * The workflow of a process: repeats the process function, one wait after the other, until the record is
 * closed, and returns the last status.
 */
export function followRecord<P extends RecordProcess, Status extends ProcessStatus>(
  process: P,
  story: (record: FollowedRecord<Status>, steps: StepsOf<P>) => Promise<void>,
  { recurs = process.recurs ?? false }: Options = {},
): (input: ProcessInput) => Promise<string> {
  return input => {
    const answers = handleSignals(process, input)
    const details = isOf060(input) ? undefined : process.details
    const page = workflowDetailsPage({ withoutPayload: answers.withoutPayload, details })
    const cancel = answers.cancel ?? (() => page.note(CANNOT_BE_CANCELLED))
    return runIgnoringCancellation(cancel, async () => {
      const record = new OpenRecord<Status>({ input, process, recurs, answers, page })
      const steps = stepsOf(process, input, status => record.take(status as Status))
      await record.reread()
      while (!record.isOver()) {
        const readings = record.readings
        await story(record, steps)
        if (record.readings === readings && !record.isOver()) await record.wait()
      }
      return record.status.status
    })
  }
}

/** Version 0.6.0 started the run: its history has another order of commands. */
const isOf060 = ({ version }: ProcessInput): boolean => version === undefined

/** "Request Cancellation" ends nothing by itself: a run ends when its record has. */
export function runIgnoringCancellation<T>(onRequest: () => void, work: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(onRequest)
  return CancellationScope.nonCancellable(work)
}

interface OpenRecordParts {
  readonly input: ProcessInput
  readonly process: RecordProcess
  readonly recurs: boolean
  readonly answers: SignalHandling
  readonly page: WorkflowDetailsPage
}

class OpenRecord<Status extends ProcessStatus> implements FollowedRecord<Status> {
  readings = 0
  readonly #parts: OpenRecordParts
  readonly #read: (input: ProcessInput) => Promise<Status>
  readonly #shownSteps = new Set<string>()
  #status: Status | undefined
  readonly #list: RunVisibility
  #hasChanged = false

  constructor(parts: OpenRecordParts) {
    this.#parts = parts
    const { read } = parts.process
    this.#read = isOf060(parts.input)
      ? proxyActivity(read.activity, read)
      : localActivityFirst(read.activity, read)
    this.#list = isOf060(parts.input) ? listOf060() : runList()
    handleRecordChanged(() => {
      this.#hasChanged = true
    })
    const description = 'Status of the record when it was last read.'
    setHandler(defineQuery<Status | undefined>('state'), () => this.#status, { description })
    setDefaultSignalHandler(name =>
      parts.page.note(`A signal ${name.slice(0, 50)} was ignored: no such signal is known.`),
    )
  }

  get status(): Status {
    if (!this.#status) throw new Error('the status is used before the record was read')
    return this.#status
  }

  isOver(): boolean {
    const mayBeOpenAgain = this.#parts.recurs && this.#hasChanged
    return this.status.closed && !mayBeOpenAgain && !this.#isAsked()
  }

  async during(
    so: Partial<Status> | ((status: Status) => boolean),
    act: () => Promise<unknown>,
  ): Promise<void> {
    const isSo = typeof so === 'function' ? so : matches(so)
    while (!this.isOver() && isSo(this.status)) await this.wait(act)
  }

  async through(act: () => Promise<unknown>): Promise<void> {
    if (isOf060(this.#parts.input)) return this.during(() => true, act)
    while (!this.isOver()) {
      await this.#continueIfLong()
      const scope = new CancellationScope()
      const acting = scope.run(act).catch(ignoreCancellation)
      await Promise.race([acting, condition(() => this.#isDisturbed())])
      if (!this.#isDisturbed()) continue
      await this.reread()
      if (!this.isOver()) scope.cancel()
    }
  }

  /** Acts if something is due, waits until the record may have changed, and reads it again. */
  async wait(act?: () => Promise<unknown>): Promise<void> {
    await this.#continueIfLong()
    const { status } = this
    if (isDue(status)) await act?.()
    if (hasMoved(status, this.status) && !this.#isDisturbed()) return
    await this.#restUntil(isDue(status) ? RETRY_AFTER_MS : status.dueInMs)
    await this.reread()
  }

  async #continueIfLong(): Promise<void> {
    if (workflowInfo().continueAsNewSuggested && !this.#isAsked())
      await continueAsNew({ ...this.#parts.input, version: RUN_VERSION })
  }

  /** Answers the signals first, so that the record is read with their effect. */
  async reread(): Promise<void> {
    this.#hasChanged = false
    const answer = await this.#parts.answers.give()
    const status = await this.#read(this.#parts.input)
    if (isOf060(this.#parts.input)) await this.#showSteps(status)
    this.take(status, answer)
  }

  take(current: Status, answer?: string): void {
    this.#status = current
    this.readings++
    this.#list.show(current)
    this.#parts.page.show(current, answer)
  }

  /** Shows each step that happened outside the run as one line of its timeline. */
  async #showSteps({ steps = [] }: Status): Promise<void> {
    const news = steps.filter(step => !this.#shownSteps.has(step))
    for (const step of news) this.#shownSteps.add(step)
    await Promise.all(news.map(addNoteToTimeline))
  }

  async #restUntil(inMs: number | null): Promise<void> {
    const { waitsFor } = this.status
    const timer = waitsFor ? { summary: workflowSummaryLine(waitsFor) } : {}
    await condition(() => this.#isDisturbed(), Math.max(inMs ?? DAY_MS, 1), timer)
  }

  #isDisturbed(): boolean {
    return this.#hasChanged || this.#isAsked()
  }

  #isAsked(): boolean {
    return this.#parts.answers.arePending()
  }
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error
}

const isDue = ({ dueInMs }: ProcessStatus): boolean => dueInMs !== null && dueInMs <= 0

/** Whether a step has changed the record, or it is no longer due. */
const hasMoved = (before: ProcessStatus, now: ProcessStatus): boolean =>
  now !== before && (!isDue(now) || textOf(now) !== textOf(before))

const textOf = (status: ProcessStatus): string => JSON.stringify({ ...status, dueInMs: null })

const matches =
  <Status extends ProcessStatus>(members: Partial<Status>) =>
  (status: Status): boolean =>
    Object.entries(members).every(([name, value]) => status[name as keyof Status] === value)
