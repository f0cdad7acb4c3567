import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
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
import { runList } from './run-list.ts'
import { type WorkflowDetailsPage, workflowDetailsPage, workflowSummaryLine } from './run-page.ts'
import { handleRecordChanged, type SignalHandling } from './signals.ts'
import { handleSignals, localActivityFirst, type StepsOf, stepsOf } from './steps.ts'

/** The pause before an overdue step is retried. */
const RETRY_AFTER_MS = 1_000

/** A record without a deadline is read again after this long, even without a signal that it changed. */
const DAY_MS = 86_400_000

export interface FollowedRecord<Status extends ProcessStatus> {
  /** Waits while the status has these members, or satisfies the predicate. `act` runs each time the record is due. */
  during(so: Partial<Status> | ((status: Status) => boolean), act: () => Promise<unknown>): Promise<void>
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
): (input: ProcessInput) => Promise<string> {
  return input => {
    const answers = handleSignals(process, input)
    const page = workflowDetailsPage({ withoutPayload: answers.withoutPayload, details: process.details })
    const cancel = answers.cancel ?? (() => page.note(CANNOT_BE_CANCELLED))
    return runIgnoringCancellation(cancel, async () => {
      const record = new OpenRecord<Status>({ input, process, answers, page })
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

/** "Request Cancellation" ends nothing by itself: a run ends when its record has. */
export function runIgnoringCancellation<T>(onRequest: () => void, work: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(onRequest)
  return CancellationScope.nonCancellable(work)
}

interface OpenRecordParts {
  readonly input: ProcessInput
  readonly process: RecordProcess
  readonly answers: SignalHandling
  readonly page: WorkflowDetailsPage
}

class OpenRecord<Status extends ProcessStatus> implements FollowedRecord<Status> {
  readings = 0
  readonly #parts: OpenRecordParts
  readonly #read: (input: ProcessInput) => Promise<Status>
  #status: Status | undefined
  readonly #list = runList()
  #hasChanged = false

  constructor(parts: OpenRecordParts) {
    this.#parts = parts
    const { read } = parts.process
    this.#read = localActivityFirst(read.activity, read)
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
    const mayBeOpenAgain = this.#parts.process.recurs && this.#hasChanged
    return this.status.closed && !mayBeOpenAgain && !this.#isAsked()
  }

  async during(
    so: Partial<Status> | ((status: Status) => boolean),
    act: () => Promise<unknown>,
  ): Promise<void> {
    const isSo = typeof so === 'function' ? so : matches(so)
    while (!this.isOver() && isSo(this.status)) await this.wait(act)
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
    const { line, answer } = await this.#parts.answers.give()
    const status = await this.#read(this.#parts.input)
    this.take(status, line)
    await answer?.(status.status)
  }

  take(current: Status, answer?: string): void {
    this.#status = current
    this.readings++
    this.#list.show(current)
    this.#parts.page.show(current, answer)
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

const isDue = ({ dueInMs }: ProcessStatus): boolean => dueInMs !== null && dueInMs <= 0

/** Whether a step has changed the record, or it is no longer due. */
const hasMoved = (before: ProcessStatus, now: ProcessStatus): boolean =>
  now !== before && (!isDue(now) || textOf(now) !== textOf(before))

const textOf = (status: ProcessStatus): string => JSON.stringify({ ...status, dueInMs: null })

const matches =
  <Status extends ProcessStatus>(members: Partial<Status>) =>
  (status: Status): boolean =>
    Object.entries(members).every(([name, value]) => status[name as keyof Status] === value)
