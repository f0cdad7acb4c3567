import type { z } from 'zod'
import type { Sql } from '../database/prepared-sql.ts'
import type { Actor, Tenant } from './context.ts'
import type { Events } from './operation.ts'
import type { Ports } from './ports.ts'
import type { Refusal } from './problem.ts'
import type { Process } from './process.ts'

/** One request of a batch, as the area's functions see it. */
export interface Item<I> {
  readonly input: I
  readonly actor: Actor
  readonly tenant: Tenant
  readonly now: Date
  /** The run that the request names in its header. */
  readonly runId: string | null
}

export interface Verdict<F extends string, E extends Events> {
  emit<N extends keyof E & string>(event: N, data: z.output<E[N]>): void
  refuse(code: F, message?: string): Refusal
  wake(process: Process, record: { readonly id: string; readonly agentId: string | null }): void
}

/**
 * A hot operation: many requests of one tenant in one transaction of few round trips. Other areas react to its
 * events once the batch has written what it decided.
 */
export interface HotHandler<I, R, F extends string, E extends Events, S = unknown> {
  /** Locks the rows in the global order, then reads what deciding needs. */
  load(items: readonly Item<I>[], sql: Sql, ports: Ports): Promise<S>
  /** Pure: one request after another, each seeing in `state` what the ones before it took. */
  decide(item: Item<I>, state: S, verdict: Verdict<F, E>): R | Refusal
  /** Everything that was decided, each kind in one statement. */
  write(state: S, sql: Sql): Promise<void>
}
