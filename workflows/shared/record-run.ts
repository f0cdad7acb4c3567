import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { DurableProcess, ProcessInput, ProcessStatus } from '../../src/kernel/contract/process.ts'
import { runList } from './run-list.ts'
import { workflowDetailsPage, workflowSummaryLine } from './run-page.ts'
import { type Decide, handleRecordChanged, receiveSignals, type SignalEffects } from './signals.ts'

/** An unchanged record is asked again after a second, then less and less often. */
const AGAIN_MS = 1_000
const SELDOM_MS = 60_000
/** A record without a deadline is read again after this long, even without a signal that it changed. */
const DAY_MS = 86_400_000

const CANNOT_BE_CANCELLED =
  'Request Cancellation changed nothing: the run goes on until its record has ended.'

type Activity<State> = (ref: ProcessInput) => Promise<State>

interface Parts<State> {
  readonly process: DurableProcess
  readonly read: Activity<State>
  readonly decide?: Decide
  /** What each signal does, as the Web UI tells it. `cancel` is also sent by *Request Cancellation*. */
  readonly signals?: SignalEffects
  /** Its signals carry no name. */
  readonly withoutPayload?: true
  /** It acts many times: Temporal's list has no deadline of it, which would be an event for each. */
  readonly withoutDeadline?: true
}

/** Reads the record, and follows it until it has ended. */
export async function follow<State extends ProcessStatus>(
  ref: ProcessInput,
  parts: Parts<State>,
): Promise<RecordRun<State>> {
  const run = new RecordRun(ref, parts)
  await run.read()
  return run
}

/**
 * The run of a record. It keeps the state that was read last, and shows it in the Web UI: as query `state`, in *Current
 * Details*, and in the list of runs. Signals of people are carried out, in order, before the record is read.
 *
 * A signal that comes while the record is read may be seen before its state, and in a replay after it: if a query was
 * answered meanwhile, the state is recorded in an earlier workflow task. So the state alone decides which timer or
 * activity begins, and then a signal ends it before it is sent: both orders number the commands alike.
 */
export class RecordRun<State extends ProcessStatus> {
  readonly #ref: ProcessInput
  readonly #parts: Parts<State>
  readonly #signals: ReturnType<typeof receiveSignals>
  readonly #page: ReturnType<typeof workflowDetailsPage>
  readonly #list: ReturnType<typeof runList>
  #state: State | undefined
  #waitsFor: string | null = null
  #hasChanged = false
  #idle = 0

  constructor(ref: ProcessInput, parts: Parts<State>) {
    this.#ref = ref
    this.#parts = parts
    this.#list = runList({ hasDeadline: !parts.withoutDeadline })
    this.#signals = receiveSignals(ref, { ...parts, whyOver: () => this.#whyOver })
    this.#page = workflowDetailsPage({
      withoutPayload: this.#signals.withoutPayload,
      details: parts.process.details,
    })
    handleRecordChanged(() => {
      this.#hasChanged = true
    })
    setHandler(defineQuery<State | undefined>('state'), () => this.#shown, {
      description: 'Status of the record when it was last read.',
    })
    setDefaultSignalHandler(name =>
      this.#page.note(`A signal ${name.slice(0, 50)} was ignored: no such signal is known.`),
    )
    const cancel = this.#signals.cancel ?? (() => this.#page.note(CANNOT_BE_CANCELLED))
    CancellationScope.current().cancelRequested.catch(cancel)
  }

  get #shown(): State | undefined {
    return this.#state && { ...this.#state, waitsFor: this.#waitsFor }
  }

  get state(): State {
    if (!this.#state) throw new Error('the state is used before the record was read')
    return this.#state
  }

  /** A run ends when its record has, once all signals and updates are answered. */
  get isOver(): boolean {
    return this.state.closed && !this.#mayBeOpenAgain && !this.#signals.arePending()
  }

  get #mayBeOpenAgain(): boolean {
    return this.#parts.process.recurs === true && this.#hasChanged
  }

  get #whyOver(): string | undefined {
    const { process } = this.#parts
    const isOpen = !this.#state?.closed || this.#mayBeOpenAgain
    return isOpen
      ? undefined
      : `The ${(process.title ?? process.name).toLowerCase()} is already ${this.state.status}.`
  }

  get #isDue(): boolean {
    const { dueInMs } = this.state
    return dueInMs !== null && dueInMs <= 0
  }

  get #isDisturbed(): boolean {
    return this.#hasChanged || this.#signals.arePending()
  }

  /**
   * Waits until the record is due, and takes the step that is for that; or until the record has changed, or a person has
   * decided: then it is read again.
   */
  async waitFor(what: string, { whenDue }: { readonly whenDue?: Activity<State> } = {}): Promise<void> {
    this.#waitsFor = `for ${what}`
    this.#page.show({ ...this.state, waitsFor: this.#waitsFor })
    if (this.#isDue) return whenDue ? this.take(whenDue) : this.#readLater(what)
    const { dueInMs } = this.state
    const isWoken = await this.#within(dueInMs ?? DAY_MS, what)
    if (isWoken || dueInMs === null || !whenDue) return this.read()
    this.#state = { ...this.state, dueInMs: 0 }
    await this.take(whenDue)
  }

  /** Takes a step, which gives the state after it. One that changed nothing is followed by a pause. */
  async take(step: Activity<State>): Promise<void> {
    const [before, wasDue] = [textOf(this.state), this.#isDue]
    const state = await uncancelled(() => this.#unlessDisturbed(step))
    if (!state) return this.read()
    this.#show(state)
    const hasMoved = textOf(this.state) !== before || (wasDue && !this.#isDue)
    this.#idle = hasMoved ? 0 : this.#idle + 1
    if (!hasMoved) await this.#pause('a moment, then it tries again')
  }

  /**
   * Undefined if something happened before the first try, or between two: what waits for its turn at another system, or has
   * failed, is not tried again before that is dealt with. A try that is under way ends first.
   */
  #unlessDisturbed(step: Activity<State>): Promise<State | undefined> {
    return CancellationScope.cancellable(async () => {
      const taken = step(this.#ref)
      await Promise.race([taken, condition(() => this.#isDisturbed)])
      CancellationScope.current().cancel()
      return taken.catch((error: unknown) => {
        if (this.#isDisturbed) return undefined
        throw error
      })
    })
  }

  /** A record that is due, while nothing is to be done about it, is read again after a pause. */
  async #readLater(what: string): Promise<void> {
    this.#idle++
    await this.#pause(what)
    await this.read()
  }

  async #pause(what: string): Promise<void> {
    await this.#within(Math.min(AGAIN_MS * 2 ** (this.#idle - 1), SELDOM_MS), what)
  }

  async read(): Promise<void> {
    this.#hasChanged = false
    const { line, answer } = await uncancelled(() => this.#signals.give())
    const state = await uncancelled(() => this.#parts.read(this.#ref))
    if (this.#state && textOf(state) !== textOf(this.#state)) this.#idle = 0
    this.#show(state, line)
    if (answer) await uncancelled(() => answer(state.status))
  }

  #show(state: State, answer?: string): void {
    this.#state = state
    this.#waitsFor = null
    this.#list.show(state)
    this.#page.show(state, answer)
  }

  /** Whether something happened within this time, or before. */
  async #within(ms: number, what: string): Promise<boolean> {
    const summary = workflowSummaryLine(`for ${what}`)
    const hasHappened = await uncancelled(() =>
      condition(() => this.#isDisturbed, Math.max(ms, 1), { summary }),
    )
    await this.#continueIfLong()
    return hasHappened
  }

  async #continueIfLong(): Promise<void> {
    const { continueAsNewSuggested } = workflowInfo()
    if (continueAsNewSuggested && !this.#signals.arePending() && allHandlersFinished())
      await continueAsNew(this.#ref)
  }
}

/** "Request Cancellation" ends nothing by itself: a run ends when its record has. */
const uncancelled = <T>(work: () => Promise<T>): Promise<T> => CancellationScope.nonCancellable(work)

const textOf = (state: ProcessStatus): string => JSON.stringify({ ...state, dueInMs: null, readAtMs: null })
