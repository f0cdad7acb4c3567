import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import {
  type ProcessInput,
  type ProcessStatus,
  RECORD_CHANGED,
  STATUS_ATTRIBUTE,
} from '../../src/kernel/contract/process.ts'
import { inOneLine, type RunPage, runPage } from './run-page.ts'
import type { Answers } from './signals.ts'

/** What is overdue and yet not done is tried again after this long. */
const AGAIN_AFTER_MS = 1_000

/** A record without a deadline is read again after this long, though nobody has said that it has changed. */
const DAY_MS = 86_400_000

/** The record that a run looks after, as the story of the run tells it. */
export interface Followed<Status extends ProcessStatus> {
  /** Waits for as long as the record is so. Whenever its time has come, `act` does what is due. */
  during(isSo: (status: Status) => boolean, act: () => Promise<unknown>): Promise<void>
}

interface Following<Status extends ProcessStatus> {
  /** Reads the record. */
  readonly read: (input: ProcessInput) => Promise<Status>
  /** One wait after the other. It is told again for as long as the record is open. */
  readonly story: (record: Followed<Status>) => Promise<void>
  /** The signals of operators. */
  readonly answers?: Answers
  /** A record that is closed may be open again: one that has changed meanwhile is read once more. */
  readonly recurs?: boolean
}

const CANNOT_BE_CANCELLED =
  'Request Cancellation changed nothing: the run goes on until its record has ended.'

/** Tells the story of a record until nothing about it is open any more; gives its last status. */
export function followRecord<Status extends ProcessStatus>(
  input: ProcessInput,
  following: Following<Status>,
): Promise<string> {
  const { answers } = following
  const page = runPage(answers?.withoutPayload)
  const cancel = answers?.cancel ?? (() => page.note(CANNOT_BE_CANCELLED))
  return heedCancellation(cancel, async () => {
    const record = new OpenRecord(input, following, page)
    await record.reread()
    while (!record.isOver()) {
      const readings = record.readings
      await following.story(record)
      if (record.readings === readings && !record.isOver()) await record.wait()
    }
    return record.status.status
  })
}

/** "Request Cancellation" is heard and ends nothing by itself: a run ends when its record has. */
export function heedCancellation<T>(onRequest: () => void, work: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(onRequest)
  return CancellationScope.nonCancellable(work)
}

export function onRecordChanged(handler: () => void): void {
  setHandler(defineSignal(RECORD_CHANGED), handler, {
    description: 'The record is read again. Sent by the service, whenever the record has changed.',
  })
}

class OpenRecord<Status extends ProcessStatus> implements Followed<Status> {
  readings = 0
  readonly #input: ProcessInput
  readonly #following: Following<Status>
  readonly #page: RunPage
  #status: Status | undefined
  #hasChanged = false

  constructor(input: ProcessInput, following: Following<Status>, page: RunPage) {
    this.#input = input
    this.#following = following
    this.#page = page
    onRecordChanged(() => {
      this.#hasChanged = true
    })
    const description = 'Status of the record when it was read last.'
    setHandler(defineQuery<Status | undefined>('state'), () => this.#status, { description })
    setDefaultSignalHandler(name =>
      page.note(`A signal ${name.slice(0, 50)} was ignored: no such signal is known.`),
    )
  }

  get status(): Status {
    if (!this.#status) throw new Error('the record is read before its story is told')
    return this.#status
  }

  /** Closed, with nothing left to read or to answer. */
  isOver(): boolean {
    const mayBeOpenAgain = this.#following.recurs && this.#hasChanged
    return this.status.closed && !mayBeOpenAgain && !this.#isAsked()
  }

  async during(isSo: (status: Status) => boolean, act: () => Promise<unknown>): Promise<void> {
    while (!this.isOver() && isSo(this.status)) await this.wait(act)
  }

  /** Acts where that is due, and waits until the record may have changed; then it is read again. */
  async wait(act?: () => Promise<unknown>): Promise<void> {
    if (workflowInfo().continueAsNewSuggested && !this.#isAsked()) await continueAsNew(this.#input)
    const { dueInMs } = this.status
    const isOverdue = dueInMs !== null && dueInMs <= 0
    if (isOverdue) await act?.()
    await this.#restUntil(isOverdue ? AGAIN_AFTER_MS : dueInMs)
    await this.reread()
  }

  /** Answers the signals first, so that the record is read with their effect. */
  async reread(): Promise<void> {
    this.#hasChanged = false
    const answer = await this.#following.answers?.give()
    const before = this.#status?.status
    this.#status = await this.#following.read(this.#input)
    this.readings++
    const { status } = this.#status
    if (status !== before) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: status }])
    this.#page.show(this.#status, answer)
  }

  /** A wait is a timer with a summary. */
  async #restUntil(inMs: number | null): Promise<void> {
    const isDisturbed = () => this.#hasChanged || this.#isAsked()
    const { waitsFor } = this.status
    const timer = waitsFor ? { summary: inOneLine(waitsFor) } : {}
    await condition(isDisturbed, Math.max(inMs ?? DAY_MS, 1), timer)
  }

  #isAsked(): boolean {
    return this.#following.answers?.areDue() ?? false
  }
}
