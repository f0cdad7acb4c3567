import type { z } from 'zod'
import type { Actor, Tenant, TenantNow } from './actor.ts'
import type { Context, RunForOwner } from './context.ts'
import type { Events } from './events.ts'
import type { Ports } from './ports.ts'
import type { Answer, Problem, Refusal, WithHeaders } from './problem.ts'
import type { Process, ProcessRecord } from './process.ts'
import type { Sql } from './sql.ts'

export type PlainHandler<I, R, F extends string, E extends Events> = (
  input: I,
  context: Context<F, E>,
) => Promise<Answer<R>> | Answer<R>

/** The answer of a reservation that needs no call. */
export class Settled<R> {
  readonly answer: R | WithHeaders<R>

  constructor(answer: R | WithHeaders<R>) {
    this.answer = answer
  }
}

/** The answer of `record` where one more call is needed: its reservation is committed before the call is made. */
export class NextCall<V> {
  readonly reservation: V

  constructor(reservation: V) {
    this.reservation = reservation
  }
}

/**
 * Reserve and commit; call the external system with no transaction open; record and commit. A reservation is plain
 * JSON, so that it outlives a crash. After a crash the next request with the same key runs `recover`, never a second
 * call. An answer that leads to another call makes a chain: `record` gives its reservation, and `recover` gets the one
 * that was committed last, so each says what a crash after it means.
 *
 * Where many requests need no write, `peek` answers those by reading alone; undefined leads to `reserve`.
 *
 * HEAD of a GET is answered by `head` or, without it, by `peek`, which sees no credential then: both only read.
 *
 * Where hundreds of requests come in a second, they take the steps together, as those of a hot operation do: `reserve` is a
 * step then, and `together` gives the one that records an answer; undefined leads to `record`.
 */
export interface OutsideHandler<I, R, F extends string, E extends Events, V = unknown, A = unknown> {
  peek?(input: I, context: Context<F, Record<never, never>>): Promise<Answer<R> | undefined>
  head?(input: I, context: Context<F, Record<never, never>>): Promise<Answer<R>>
  reserve: Reserve<I, R, F, E, V> | SharedStep<I, R | NextCall<V>, F, E>
  call(reservation: V, outside: { readonly ports: Ports; readonly requestId: string }): Promise<A>
  /** Set where `reserve` writes nothing: without an `Idempotency-Key` to be kept, no transaction is opened for it. */
  readonly readsToReserve?: true
  together?(answer: A, reservation: V): SharedStep<Called<V, A>, Answer<R> | NextCall<V>, F, E> | undefined
  record(answer: A, reservation: V, context: Context<F, E>): Promise<Answer<R> | NextCall<V>>
  recover(reservation: V, context: Context<F, E>): Promise<Answer<R>>
}

export type Reserve<I, R, F extends string, E extends Events, V> = (
  input: I,
  context: Context<F, E>,
) => Promise<V | Settled<R> | Refusal | WithHeaders<Refusal>>

/** What was reserved for a call, and the answer to it. */
export interface Called<V, A> {
  readonly reservation: V
  readonly answer: A
}

/** A request of a batch, as the area's functions see it. */
export interface Item<I> extends TenantNow {
  readonly input: I
  readonly actor: Actor
  readonly requestId: string
  /** Where the request came from; null for what the service does by itself. */
  readonly address: string | null
  /** The run that the request names in its header. */
  readonly runId: string | null
}

/** The means by which `decide` answers. */
export interface Verdict<F extends string, E extends Events> {
  emit<N extends keyof E & string>(event: N, data: z.output<E[N]>): void
  refuse(code: F, message?: string): Refusal
  wake(process: Process, record: ProcessRecord): void
}

/**
 * Requests of one lane lock the same row. Where that one is locked by somebody else, the requests of its lane wait apart, in
 * batches of their own.
 */
export interface Lanes<I> {
  of(input: I): string
  /** How long a shared batch waits for a locked row before it finds out which lanes are locked, in milliseconds. */
  readonly sharedTimeoutMs: number
  /** How long the batch of a locked lane waits, in milliseconds. */
  readonly ownTimeoutMs: number
  /** Which of these lanes can be locked just now. */
  free(lanes: readonly string[], tenant: Tenant, sql: Sql): Promise<readonly string[]>
}

/**
 * A hot operation: many requests of one tenant in one transaction of few round trips. Other areas react to its
 * events once the batch has written what it decided.
 */
export interface HotHandler<I, R, F extends string, E extends Events, S = unknown> {
  /** Set where others must hardly notice that the rows of one request are locked for long. */
  readonly lanes?: Lanes<I>
  /** Locks the rows in the global order, then reads what deciding needs. */
  load(items: readonly Item<I>[], sql: Sql, ports: Ports): Promise<S>
  /**
   * Pure: one request after another, each seeing in `state` what the ones before it took. A `Problem` that it returns stops
   * that request; one that it throws stops the batch.
   */
  decide(item: Item<I>, state: S, verdict: Verdict<F, E>): R | Refusal | Problem
  /** Writes all decisions, each table in one statement. */
  write(state: S, sql: Sql, runForOwner: RunForOwner): Promise<void>
}

/** What a step decides about a request that `record` is to take alone: in the batch nothing is changed for it. */
export class Alone {
  readonly alone = true
}

/**
 * A step of an outside operation that many requests of a tenant take in one transaction. `decide` gives what `reserve` or
 * `record` would, a reservation as a `NextCall`. A step that reserves is taken by reading alone where there is no
 * `Idempotency-Key` to be kept: it locks nothing, and is taken again, in a transaction, where it has decided to write.
 */
export interface SharedStep<I, R, F extends string, E extends Events, S = unknown>
  extends HotHandler<I, R | Alone, F, E, S> {
  /** Names the step among those of its operation. */
  readonly name: string
  /**
   * Set where the step nearly always answers by itself: it locks and writes at once, in batches as large as those of a hot
   * operation, and is never tried by reading.
   */
  readonly settles?: true
  /** Whose records it changes, where the caller belongs to no tenant. */
  tenantOf?(input: I): Tenant
}
