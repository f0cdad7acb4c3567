import type { EntityManager, EntityName, FilterQuery } from '@mikro-orm/postgresql'
import type { z } from 'zod'
import type { Actor, Tenant, TenantNow } from './actor.ts'
import type { Events } from './events.ts'
import type { PageOf } from './page.ts'
import type { Ports } from './ports.ts'
import type { Refusal } from './problem.ts'
import type { Process, ProcessRecord } from './process.ts'
import type { Sql } from './sql.ts'

/** What a handler has: the tenant's records, time, and the words to answer with. */
export interface Context<F extends string = string, E extends Events = Events> extends TenantNow {
  readonly actor: Actor
  readonly em: EntityManager
  /** For what is read or written by sets. Nothing narrows it: each statement names the tenant itself. */
  readonly sql: Sql
  readonly requestId: string
  /** The run that the request names in its header. */
  readonly runId: string | null
  readonly ports: Ports
  emit<N extends keyof E & string>(event: N, data: z.output<E[N]>): void
  refuse(code: F, message?: string): Refusal
  /** What other areas do about the events so far, theirs included: now, where the answer tells of it, else at the end. */
  react(): Promise<void>
  /** Begins the record's durable process once this is committed, or tells its run that the record has changed. */
  wake(process: Process, record: ProcessRecord): void
  /**
   * Runs a long read on a connection of its own, one at a time per name across all processes. Undefined where another
   * request holds that name.
   */
  withExclusiveRead<T>(name: string, work: (sql: Sql) => Promise<T>): Promise<T | undefined>
  /**
   * One page of what matches, newest first (by `id`, or the member that counts them), from the cursor of the request.
   * Where a row can be large, few are read at `first`.
   */
  page<T extends object>(
    entity: EntityName<T>,
    where: FilterQuery<T>,
    by?: keyof T & string,
    first?: number,
  ): Promise<PageOf<T>>
  /** The same over what a statement reads, in an order of its own: so many at most that come after this id. */
  pageBy<T extends { id: string }>(
    read: (after: string | undefined, most: number) => Promise<T[]>,
  ): Promise<PageOf<T>>
  /** The same over a list that is not in the database. */
  pageOf<T extends { id: string }>(all: readonly T[]): PageOf<T>
  /**
   * Go on as this tenant: for the dashboard secret and for a public call, which have none of their own, and for a key
   * where the thing belongs to the other mode of the same owner. Another owner's is never reached. `now` is what the
   * tenant's clock says, where it has been asked.
   */
  actFor(tenant: Tenant, now?: Date): void
}
