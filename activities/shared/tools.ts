import type { AttemptDelivery } from '../../src/delivery/webhooks/index.ts'
import type { ReadContext, WriteContext } from '../../src/kernel/contract/context.ts'
import type { EventSchemas } from '../../src/kernel/contract/events.ts'
import type { AnyOperation, RegisteredOperation } from '../../src/kernel/contract/operation.ts'
import type { RunningService, Systems } from '../../src/kernel/contract/ports.ts'
import type { ProcessStatus } from '../../src/kernel/contract/process.ts'
import type {
  ActivityCaller,
  DecisionBody,
  OutsideActivity,
  ReceivedSignal,
  RecordRef,
  Step,
} from '../../src/kernel/contract/step.ts'
import type { OutsideCalls, StepBatch, StepCause, StepRunner } from '../../src/kernel/run/steps.ts'
import { clock } from '../../src/values/clock.ts'
import { type WorkflowSignalSettings, withPermittedSignals } from './signals.ts'

/** Reads and changes records by `em` and `sql`; it commits with the events that it emits. */
type Transaction<E extends EventSchemas> = <T>(work: (tx: WriteContext<E>) => Promise<T>) => Promise<T>

interface OutsideTools<E extends EventSchemas> {
  /** The lease of this process: what it has claimed is free once the process has died. */
  readonly holder: string
  readonly requestId: string
  /** Aborted when the process is stopping. */
  readonly stopping: AbortSignal | undefined
  readonly transaction: Transaction<E>
  /**
   * Calls another system with no transaction open, and records its answer in one. A process that was paused since its last
   * commit calls nothing.
   */
  call<A, T>(make: () => Promise<A>, record: (answer: A, tx: WriteContext<E>) => Promise<T>): Promise<T>
  /** The same, where its answer is recorded in a batch, or needs no record. */
  callAnd<A, T>(make: () => Promise<A>, record: (answer: A) => Promise<T>): Promise<T>
  /** A transaction that records of an owner share. */
  inBatch<I, R>(batch: StepBatch<E, I, R>, input: I): Promise<R>
}

/** The operation of the API that decides as a signal does, with the body that the signal's remark gives. */
interface OfApi {
  readonly operation: AnyOperation
  readonly body?: DecisionBody
}

/** An update is refused without the reason that the API demands. A signal has no answer that could ask for one. */
export const denial: DecisionBody = (by, comment, isUpdate) => ({
  reason: comment ?? (isUpdate ? undefined : `Denied by ${by}`),
})

interface SignalRules {
  /** Whether its signals open live money in test mode, too. */
  openLiveMoney?(): boolean
}

/** What activities are made of. */
export interface ActivityTools {
  readonly systems: Systems
  readonly service: Pick<RunningService, 'pageUrl'>
  /** Posts a webhook, as deliverers do. */
  readonly attemptDelivery: AttemptDelivery
  /** Reads the status of a record; undefined where there is none, which ends the run as failed. */
  read<S extends ProcessStatus>(
    ref: RecordRef,
    work: (context: ReadContext) => Promise<S | undefined>,
    signals?: SignalRules,
  ): Promise<S>
  transaction<E extends EventSchemas, T>(
    ref: RecordRef,
    step: Step<E>,
    work: (tx: WriteContext<E>) => Promise<T>,
  ): Promise<T>
  /** A transaction that many records of an owner share, where many are due at the same instant. */
  inBatch<E extends EventSchemas>(ref: RecordRef, step: Step<E>, batch: StepBatch<E>): Promise<void>
  /** An activity that calls another system, between transactions: `transaction`, `call`, again. */
  outside<E extends EventSchemas, S, R extends RecordRef = RecordRef>(
    step: Step<E>,
    work: (ref: R, tools: OutsideTools<E>) => Promise<S>,
  ): OutsideActivity<S, R>
  /** Carries out the signal or update of an operator with the checks of the API. Gives the line that the operator reads. */
  decide(
    signals: Readonly<Record<string, OfApi>>,
    rules?: SignalRules & { readonly withoutPayload?: true },
  ): (signalled: ReceivedSignal) => Promise<string>
}

interface Parts {
  readonly attemptDelivery: AttemptDelivery
  readonly steps: StepRunner
  readonly operations: readonly RegisteredOperation[]
  readonly systems: Systems
  readonly service: RunningService
  readonly settings: WorkflowSignalSettings
}

export function activityTools(
  { steps, operations, systems, service, settings, attemptDelivery }: Parts,
  caller: ActivityCaller,
): ActivityTools {
  const { requestIdOf, waitingRun, inTurn = (_step, _ref, work) => work(), onChange } = caller
  const turnOf: typeof inTurn = (step, ref, work) => (step.ownBounds ? work() : inTurn(step, ref, work))
  const causes = new WeakMap<RecordRef, StepCause>()

  /** Read once for all transactions of an activity. */
  async function causeOf(ref: RecordRef): Promise<StepCause> {
    const requestId = requestIdOf(ref)
    if (caller.isRequest) return { requestId, traceparent: undefined }
    const known = causes.get(ref)
    if (known) return known
    const cause = { ...(await steps.causeOf(ref, requestId)), waitingRun: waitingRun?.() }
    causes.set(ref, cause)
    return cause
  }

  const note = <T>(step: Step, { value, hasChanged }: { value: T; hasChanged: boolean }): T => {
    if (hasChanged) onChange?.(step)
    return value
  }

  const transaction: ActivityTools['transaction'] = async (ref, step, work) =>
    note(step, await steps.transaction({ step, ref, cause: await causeOf(ref) }, work))

  const toolsOf = outsideTools({ steps, caller, causeOf, transaction, note })

  return {
    systems,
    service,
    attemptDelivery,
    transaction,

    async read(ref, work, rules) {
      const [status, aheadMs] = await steps.read(ref, work)
      const page = settings.pageOf?.(ref.id)
      const shown = { ...(aheadMs > 0 ? byTestClock(status) : status), readAtMs: clock.milliseconds() }
      return withPermittedSignals(page ? { ...shown, page } : shown, ref, {
        ...settings,
        openLiveMoney: rules?.openLiveMoney?.() ?? false,
      })
    },

    async inBatch(ref, step, batch) {
      note(step, await steps.inBatch({ step, ref, cause: await causeOf(ref) }, batch))
    },

    outside(step, work) {
      const act = (ref: Parameters<typeof work>[0]) =>
        turnOf(step, ref, () => steps.outside(async calls => work(ref, toolsOf({ step, ref, calls }))))
      return Object.assign(act, { calls: step as Step })
    },

    decide: decisions(operations, caller),
  }
}

interface OutsideParts extends Pick<ActivityTools, 'transaction'>, Pick<Parts, 'steps'> {
  readonly caller: ActivityCaller
  readonly causeOf: (ref: RecordRef) => Promise<StepCause>
  readonly note: <T>(step: Step, committed: { value: T; hasChanged: boolean }) => T
}

interface OutsideStep<E extends EventSchemas> {
  readonly step: Step<E>
  readonly ref: RecordRef
  readonly calls: OutsideCalls
}

const outsideTools =
  ({ steps, caller, causeOf, transaction, note }: OutsideParts) =>
  <E extends EventSchemas>({ step, ref, calls }: OutsideStep<E>): OutsideTools<E> => {
    const callAnd: OutsideTools<E>['callAnd'] = async (make, record) => {
      const noted = async () => {
        const answer = await make()
        caller.onChange?.(step)
        return answer
      }
      return calls.call({ step, ref, cause: await causeOf(ref) }, noted, record)
    }
    return {
      holder: calls.holder,
      requestId: caller.requestIdOf(ref),
      stopping: caller.stopping?.(),
      transaction: work => transaction(ref, step, work),
      callAnd,
      call: (make, record) => callAnd(make, answer => transaction(ref, step, tx => record(answer, tx))),
      inBatch: async (batch, input) =>
        note(step, await steps.inBatch({ step, ref, cause: await causeOf(ref) }, batch, input)),
    }
  }

const decisions =
  (operations: readonly RegisteredOperation[], caller: ActivityCaller): ActivityTools['decide'] =>
  (signals, rules = {}) =>
  async signalled => {
    if (!caller.decide) throw new Error('only a run carries out signals')
    const { operation: wanted, body } = signals[signalled.verb] ?? {}
    const operation = operations.find(registered => registered.operation === wanted)?.key
    return caller.decide({
      signalled,
      signal: operation === undefined ? undefined : { operation, body },
      withoutPayload: rules.withoutPayload,
      openLiveMoney: rules.openLiveMoney?.() ?? false,
      requestId: caller.requestIdOf(signalled),
      waitingRun: caller.waitingRun?.(),
    })
  }

/** Times of an owner whose clock is ahead say so. */
function byTestClock<S extends ProcessStatus>(status: S): S {
  const { deadline } = status
  return deadline ? { ...status, deadline: `${deadline} (test clock)` } : status
}
