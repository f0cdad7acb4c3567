import type { Tenant } from './actor.ts'
import type { CallerContext, Context, DecideContext, RunForOwner } from './context.ts'
import type { EventSchemas } from './events.ts'
import type { Ports } from './ports.ts'
import type { Accepted, HandlerAnswer, Problem, Refusal } from './problem.ts'
import type { Sql } from './sql.ts'

export type PlainHandler<I, R, F extends string, E extends EventSchemas> = (
  input: I,
  context: Context<F, E>,
) => Promise<HandlerAnswer<R>> | HandlerAnswer<R>

export class AnswerNow<R> {
  readonly answer: HandlerAnswer<R>

  constructor(answer: HandlerAnswer<R>) {
    this.answer = answer
  }
}

/** A call is needed: its reservation is committed before the call is made. */
export class CallExternal<V> {
  readonly reservation: V

  constructor(reservation: V) {
    this.reservation = reservation
  }
}

export interface ExternalCallContext extends Ports {
  readonly requestId: string
  /** The caller can repeat the request by its `Idempotency-Key`, and goes on with it so. */
  readonly isRepeatable: boolean
}

/**
 * Reserve and commit; call the external system with no transaction open; record and commit. A reservation is
 * plain JSON, so that it survives a crash. After a crash the next request with the same key runs `recover`,
 * never a second call.
 * An answer that leads to another call makes a chain: `record` gives its reservation, and `recover` gets the
 * one committed last, so each says what a crash after it means.
 * HEAD of a GET takes the same steps, whose call only reads, and rolls back what they write.
 */
export interface ExternalHandler<I, R, F extends string, E extends EventSchemas, V = unknown, A = unknown> {
  reserve(input: I, context: Context<F, E>): Promise<V | AnswerNow<R> | Refusal>
  call(reservation: V, context: ExternalCallContext): Promise<A>
  record(answer: A, reservation: V, context: Context<F, E>): Promise<HandlerAnswer<R> | CallExternal<V>>
  recover(reservation: V, context: Context<F, E>, input: I): Promise<HandlerAnswer<R>>
}

export interface BatchItem<I> extends CallerContext {
  readonly input: I
  /** The lease of this process, where a call of another system follows: what it claims is free once the process has died. */
  readonly holder: string | null
  /** The caller does not wait: the answer is `Accepted`. */
  readonly prefersAsync: boolean
}

export type NonEmpty<T> = readonly [T, ...T[]]

export const isNonEmpty = <T>(list: readonly T[]): list is NonEmpty<T> => list.length > 0

/**
 * Requests of one lane lock the same row. Where another transaction has locked it, the requests of its lane
 * wait apart, in batches of their own.
 */
export interface LockLanes<I> {
  of(input: I): string
  /** How long a shared batch waits for a locked row before it finds out which lanes are locked. */
  readonly sharedTimeoutMs: number
  readonly ownTimeoutMs: number
  free(lanes: readonly string[], tenant: Tenant, sql: Sql): Promise<readonly string[]>
}

/**
 * A hot operation: many requests of one tenant in one transaction of few round trips. Other areas react to
 * its events once the batch has written its decisions.
 */
export interface HotHandler<I, R, F extends string, E extends EventSchemas, S = unknown> {
  /** Given where a long lock on the rows of one request must hardly delay others. */
  readonly lanes?: LockLanes<I> | null
  /** Locks the rows in the global order, then reads what deciding needs. */
  load(items: NonEmpty<BatchItem<I>>, sql: Sql, ports: Ports): Promise<S>
  /**
   * Pure: one request after another, each seeing in `state` what the earlier ones took. A `Problem` that it
   * returns stops that request; one that it throws stops the batch.
   */
  decide(item: BatchItem<I>, state: S, verdict: DecideContext<F, E>): R | Refusal | Accepted | Problem
  /** Sends all its statements in one turn of the event loop: the commit goes with them, unless they run something for another owner. */
  write(state: S, sql: Sql, runForOwner: RunForOwner): Promise<void>
}

/**
 * A step of a hot external operation, which many requests of a tenant share in one transaction. It answers, or
 * names the next call.
 */
export interface BatchedStep<I, R, F extends string, E extends EventSchemas, S = unknown>
  extends HotHandler<I, R, F, E, S> {
  readonly name: string
  readonly lanes: LockLanes<I> | null
}

type AnyBatchedStep<I> = BatchedStep<I, unknown, string, Record<never, never>>

/** An answer of another system, with the step that records it. */
export class BatchedAnswer {
  readonly step: AnyBatchedStep<unknown>
  readonly input: unknown
  /** What the step would answer, where nothing is left to be recorded but the answer under its key. */
  readonly known?: object | undefined

  constructor(step: AnyBatchedStep<unknown>, input: unknown, known?: object) {
    this.step = step
    this.input = input
    this.known = known
  }
}

export const recordInBatch = <I>(step: AnyBatchedStep<I>, input: I, known?: object): BatchedAnswer =>
  new BatchedAnswer(step, input, known)

/**
 * The next call of a hot external operation. What `make` closes over lives as long as the request: `recover` gets the
 * reservation and the input of the request that repeats it. An answer that no batched step takes goes to the handler's `record`.
 */
export class HotCall<V, A> extends CallExternal<V> {
  readonly make: (context: ExternalCallContext) => Promise<A | BatchedAnswer>

  constructor(reservation: V, make: HotCall<V, A>['make']) {
    super(reservation)
    this.make = make
  }
}

/**
 * Each request reads alone, and answers or names its call: where there is no `Idempotency-Key`, and for HEAD, which does
 * not see the headers that pay. The steps that follow are for the tenant to which it has switched.
 */
export interface BeginByReading<I, R, F extends string, V, A> {
  readonly by: 'reading'
  read(input: I, context: Context<F>): Promise<HandlerAnswer<R> | HotCall<V, A>>
}

/** Requests share a transaction, which answers them or reserves their calls. */
export interface BeginInBatch<I, R, F extends string, E extends EventSchemas, V, A> {
  readonly by: 'writing'
  readonly step: BatchedStep<I, R | HotCall<V, A>, F, E>
}

/**
 * An external operation of which hundreds of requests a second lock the same rows: its steps share transactions, and
 * each call names the step that records its answer.
 */
export interface HotExternalHandler<
  I,
  R,
  F extends string,
  E extends EventSchemas,
  V = unknown,
  A = unknown,
> {
  readonly begin: BeginByReading<I, R, F, V, A> | BeginInBatch<I, R, F, E, V, A>
  /** In a transaction of its own. */
  record(answer: A, reservation: V, context: Context<F, E>): Promise<HandlerAnswer<R> | HotCall<V, A>>
  recover(reservation: V, context: Context<F, E>, input: I): Promise<HandlerAnswer<R> | HotCall<V, A>>
  /**
   * Answers a repetition by the record, where not everything is stored under the key, or not everybody in its scope may read
   * it. Undefined: what is stored is the answer.
   */
  repeat?(repeated: RepeatedCall<V>, context: Context<F, E>): Promise<HandlerAnswer<R> | undefined>
}

/** What a request has left under its key: its last reservation, and its answer once there is one. */
export interface RepeatedCall<V> {
  readonly reservation: V | null
  readonly answer: { readonly status: number; readonly body: string | null } | null
}
