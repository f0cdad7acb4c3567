import type { Tenant } from './actor.ts'
import type { CallerContext, Context, DecideContext, RunForOwner } from './context.ts'
import type { EventSchemas } from './events.ts'
import type { Ports } from './ports.ts'
import type { AnswerWithHeaders, HandlerAnswer, Problem, Refusal } from './problem.ts'
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
  readonly chained: ChainedCall<unknown, unknown, unknown> | undefined

  constructor(reservation: V, chained?: ChainedCall<unknown, unknown, unknown>) {
    this.reservation = reservation
    this.chained = chained
  }
}

/** A call of a chain whose calls differ, with the batched step that records its answer. */
export interface ChainedCall<P, A, I> {
  /** The argument of the call. It lives as long as the request: `recover` gets the reservation alone. */
  readonly value: P
  call(value: P, context: ExternalCallContext): Promise<A>
  readonly step: BatchedStep<I, unknown, string, Record<never, never>>
  /** The answers that the step records; the handler's `record` takes any other. */
  accepts(answer: A | I): answer is I
  /** The tenant whose records the step changes, if the caller belongs to none. */
  readonly tenant?: Tenant
}

/** A call whose answer a batched step records. Its argument goes from the reservation to the call, and from there to the step. */
export const chainExternalCall = <V, P, A, I>(
  reservation: V,
  chained: ChainedCall<P, A, I>,
): CallExternal<V> => new CallExternal(reservation, chained)

/**
 * Reserve and commit; call the external system with no transaction open; record and commit. A reservation is
 * plain JSON, so that it survives a crash. After a crash the next request with the same key runs `recover`,
 * never a second call.
 * An answer that leads to another call makes a chain: `record` gives its reservation, and `recover` gets the
 * one committed last, so each says what a crash after it means. Where the calls of a chain differ, each names
 * the next one by `chainExternalCall`.
 * Where many requests need no write, `peek` answers those by reading alone; undefined leads to `reserve`.
 * HEAD of a GET is answered by `head` or, without it, by `peek`, which then sees no credential: both only
 * read.
 * Each step runs in a batch of one. Where hundreds of requests a second lock the same rows, steps share a
 * transaction, as hot operations do: `reserve` is then a `BatchedStep`, or names its call by `chainExternalCall`, with the step
 * that records the answer.
 */
export interface ExternalHandler<I, R, F extends string, E extends EventSchemas, V = unknown, A = unknown> {
  peek?(input: I, context: Context<F, Record<never, never>>): Promise<HandlerAnswer<R> | undefined>
  head?(input: I, context: Context<F, Record<never, never>>): Promise<HandlerAnswer<R>>
  reserve: ReserveHandler<I, R, F, E, V> | BatchedStep<I, R | CallExternal<V>, F, E>
  call(reservation: V, context: ExternalCallContext): Promise<A>
  /**
   * Set where `reserve` rarely writes. A request without an `Idempotency-Key` is tried by reading alone, and
   * repeated in a transaction if it has emitted anything.
   */
  readonly readsToReserve?: true
  record(answer: A, reservation: V, context: Context<F, E>): Promise<HandlerAnswer<R> | CallExternal<V>>
  recover(reservation: V, context: Context<F, E>): Promise<HandlerAnswer<R>>
}

export interface ExternalCallContext {
  readonly ports: Ports
  readonly requestId: string
}

export type ReserveHandler<I, R, F extends string, E extends EventSchemas, V> = (
  input: I,
  context: Context<F, E>,
) => Promise<V | CallExternal<V> | AnswerNow<R> | Refusal | AnswerWithHeaders<Refusal>>

export interface BatchItem<I> extends CallerContext {
  readonly input: I
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
  /** Set where a long lock on the rows of one request must hardly delay others. */
  readonly lanes?: LockLanes<I>
  /** Locks the rows in the global order, then reads what deciding needs. */
  load(items: NonEmpty<BatchItem<I>>, sql: Sql, ports: Ports): Promise<S>
  /**
   * Pure: one request after another, each seeing in `state` what the earlier ones took. A `Problem` that it
   * returns stops that request; one that it throws stops the batch.
   */
  decide(item: BatchItem<I>, state: S, verdict: DecideContext<F, E>): R | Refusal | Problem
  /** Sends all its statements in one turn of the event loop: the commit goes with them, unless they run something for another owner. */
  write(state: S, sql: Sql, runForOwner: RunForOwner): Promise<void>
}

/**
 * A step of an external operation that many requests of a tenant share in one transaction. `decide` returns
 * what `record` would: an answer, or a `CallExternal` with the reservation of the next call.
 */
export interface BatchedStep<I, R, F extends string, E extends EventSchemas, S = unknown>
  extends HotHandler<I, R, F, E, S> {
  readonly name: string
  /** Set where the step nearly always answers by itself: its batches are as large as those of a hot operation. */
  readonly usuallyAnswers?: true
}

export interface BoundBatchedStep extends Pick<ChainedCall<unknown, unknown, unknown>, 'step' | 'tenant'> {
  readonly input: unknown
}
