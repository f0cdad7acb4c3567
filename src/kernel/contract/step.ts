import { z } from 'zod'
import type { Tenant } from './actor.ts'
import type { WaitingRun } from './call.ts'
import type { EventSchemas } from './events.ts'
import type { RegisteredOperation } from './operation.ts'
import type { ExternalSystems } from './ports.ts'
import type { BoundActivities, ProcessInput, ProcessStatus } from './process.ts'

/** A record that a durable process looks after. */
export interface RecordRef extends Tenant {
  readonly id: string
}

/**
 * What a durable process does to its record. Its name is the action in the audit trail, in traces and metrics; the events
 * are in the catalogue. The work itself is a function that an activity calls in a transaction.
 */
export interface Step<out E extends EventSchemas = EventSchemas> {
  readonly key: string
  readonly summary: string
  readonly emits: E
  /** The system that it calls: few calls of an owner, and few to a system, are under way at once. */
  readonly calls?: keyof ExternalSystems
  /** It keeps its own bounds of calls at once, so it waits for no turn. */
  readonly ownBounds?: true
}

/** The name begins with the noun: `intents.expire`. */
export const step = <E extends EventSchemas>(key: string, parts: Omit<Step<E>, 'key'>): Step<E> => ({
  key,
  ...parts,
})

/** A step as the catalogue of operations has it: without an address, and no caller may run it. */
export const stepOperation = ({ key, summary, emits, calls }: Step, tag = ''): RegisteredOperation => ({
  key,
  tag,
  addresses: [],
  handler: undefined,
  operation: {
    method: 'POST',
    path: `/${key}`,
    callers: [],
    summary,
    emits,
    returns: [200, z.unknown()],
    ...(calls && { run: 'external', requires: calls }),
  },
})

/**
 * Takes a step of a record's process, or reads the record, and gives its status after that. It may be repeated at any
 * time, and does nothing where nothing is left to do.
 */
export interface RecordActivity<S extends ProcessStatus = ProcessStatus> {
  (ref: RecordRef): Promise<S>
  /** The step that calls another system. */
  readonly calls?: Step
}

/** An activity that calls another system. Gives the status after that, or what may be done next. */
export interface OutsideActivity<S = ProcessStatus, R extends RecordRef = RecordRef> {
  (ref: R): Promise<S>
  readonly calls: Step
}

export interface ReceivedSignal extends ProcessInput {
  readonly verb: string
  readonly payload: unknown
  /** An update has one: its caller waits for the answer. */
  readonly updateId?: string | undefined
}

/** The body of the operation, by what the operator sent. */
export type DecisionBody = (by: string, comment: string | undefined, isUpdate: boolean) => object

/** The signal or update of an operator, with the operation of the API that decides as it does. */
export interface OperatorDecision {
  readonly signalled: ReceivedSignal
  readonly signal:
    | {
        readonly operation: string
        readonly body?: DecisionBody | undefined
      }
    | undefined
  /** It carries no name, and runs its operation as the process. */
  readonly withoutPayload?: true | undefined
  readonly openLiveMoney?: boolean
  readonly requestId: string
  readonly waitingRun?: WaitingRun | undefined
}

/** Who carries out activities: a run, the sweep in place of a run, or a test clock that is moved. */
export interface ActivityCaller {
  /** The request id of what the process does, where no request has changed the record. */
  requestIdOf(ref: RecordRef): string
  /** A request carries it out where no run does: it is the cause, and its span is around each step. */
  readonly isRequest?: true
  waitingRun?(): WaitingRun | undefined
  /** Waits for the turn of a call to another system. */
  inTurn?<T>(step: Step, ref: RecordRef, work: () => Promise<T>): Promise<T>
  onChange?(step: Step): void
  /** Aborted when the process is stopping: what it has begun is begun again elsewhere. */
  stopping?(): AbortSignal
  /** Only runs receive signals. Gives the line that the operator reads. */
  decide?(decision: OperatorDecision): Promise<string>
}

/** All activities by name, as this caller carries them out: readings, steps, and decisions of operators. */
export type BindActivities = (caller: ActivityCaller) => BoundActivities
