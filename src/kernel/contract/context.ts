import type { EntityClass, FilterQuery } from '@mikro-orm/core'
import type { z } from 'zod'
import type { JsonOf } from '../../values/json-names.ts'
import type { Actor, Tenant, TenantNow } from './actor.ts'
import type { PathParameterName } from './addresses.ts'
import type { Tally, TallyRow } from './conditions.ts'
import type { EntityManager, EntityReader } from './entity-manager.ts'
import type { EventSchemas } from './events.ts'
import type { RecordPage } from './page.ts'
import type { InternalOperationInput, Ports } from './ports.ts'
import type { Refusal } from './problem.ts'
import type { DurableProcess, ProcessRecord } from './process.ts'
import type { RawRequest } from './raw-request.ts'
import type { Sql } from './sql.ts'

/** Runs SQL for the tenant, whom each statement names itself. A hot operation has no more. */
export interface SqlContext {
  readonly tenant: Tenant
  readonly sql: Sql
}

/** Tells others: events commit with the change, and wake durable processes after it. */
export interface EmitContext<out E extends EventSchemas = Record<never, never>> extends TenantNow {
  emit<N extends keyof E & string>(event: N, data: z.output<E[N]>): void
  /** After the commit, starts the record's durable process, or signals the running one. */
  wake(process: DurableProcess, record: ProcessRecord): void
}

/** Decides what a request comes to, without the database: refuses it, or emits what happens. */
export interface DecideContext<in F extends string, out E extends EventSchemas = Record<never, never>>
  extends EmitContext<E> {
  refuse(code: F, message?: string): Refusal
}

/** The caller of a request: a handler and each item of a batch have one. */
export interface CallerContext extends TenantNow {
  readonly actor: Actor
  readonly requestId: string
  /** The client's IP address; null for work that the service does by itself. */
  readonly address: string | null
  readonly runId: string | null
}

/** Reads what the tenant has. It locks and changes nothing. */
export interface ReadContext extends CallerContext, SqlContext, Ports {
  readonly em: EntityReader
  /** Reads outside the transaction, for content produced while it is sent, after the commit. */
  readonly sqlAfterCommit: Sql
  /**
   * Runs a long read on a connection of its own, one at a time per name across all processes. Undefined where
   * another request holds that name.
   */
  withExclusiveRead<T>(name: string, work: (sql: Sql) => Promise<T>): Promise<T | undefined>
  /** Reads one snapshot on a connection of its own. For reads only: a write has a connection already. */
  withSnapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * One page of the matching records, newest first (by `id`, or the member `by`), from the request's cursor.
   * `first` is how many rows the first query reads: few, where a row can be large.
   */
  page<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    by?: keyof T & string,
    first?: number,
  ): Promise<RecordPage<T>>
  /** A page over a statement with an order of its own: `read` gives at most `most` rows after the id `after`. */
  pageBy<T extends { id: string }>(
    read: (after: string | undefined, most: number) => Promise<T[]>,
  ): Promise<RecordPage<T>>
  /** Counts the newest `most` of the matching records by a member, and adds up others, in SQL's units. */
  tally<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    tally: Tally<T>,
  ): Promise<TallyRow[]>
  pageOf<T extends { id: string }>(all: readonly T[]): RecordPage<T>
  readonly callOperation: CallOperation
  /** The answer is a `CsvFile`: only where the contract says `csv`. */
  readonly asCsv: boolean
}

/** Changes what the tenant has, and tells others of it. */
export interface WriteContext<out E extends EventSchemas = Record<never, never>>
  extends ReadContext,
    EmitContext<E> {
  readonly em: EntityManager
  /** Sends a statement whose result the handler does not need. The commit waits for it and fails with it. */
  queueStatement(statement: Promise<unknown>): void
  /**
   * Runs other areas' reactions to the events so far, and to the events that those emit. Runs at the end
   * anyway; call it earlier where the answer depends on a reaction.
   */
  runReactions(): Promise<void>
  /** Runs an operation for another owner in this transaction. Only what moves money between owners uses it. */
  readonly runForOwner: RunForOwner
}

/** All that a handler gets: it reads, writes and decides, and sees the request. */
export interface Context<in F extends string = never, out E extends EventSchemas = Record<never, never>>
  extends WriteContext<E>,
    DecideContext<F, E> {
  readonly headers: RawRequest['headers']
  readonly rawBody: Uint8Array
  readonly host: string
  readonly ending: AbortSignal
  /**
   * Continues as this tenant. For the dashboard secret and public calls, which have no tenant of their own,
   * and for a key whose record is in the other mode of the same owner; never in place of another owner. `now`
   * is the tenant's time, where it has been read.
   */
  switchTenant(tenant: Tenant, now?: Date): void
}

/**
 * Runs an operation without callers for this tenant, in the transaction of another owner's request: both
 * commit at once, or neither. The caller has locked the accounts of both. Throws where the operation refuses.
 */
export type RunForOwner = (
  tenant: Tenant,
  operation: string,
  input: InternalOperationInput,
  requestId: string,
) => Promise<unknown>

interface CallableOperation<P extends string, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  readonly path: P
  readonly query?: Q
  readonly body?: B
  readonly returns: readonly [status: number, schema: R]
}

type OperationInput<P extends string, Q extends z.ZodType, B extends z.ZodType> = ([
  PathParameterName<P>,
] extends [never]
  ? { readonly params?: never }
  : { readonly params: Readonly<Record<PathParameterName<P>, string>> }) & {
  /** As members are written in a URL: the contract parses them. */
  readonly query?: { readonly [Name in keyof JsonOf<Q>]?: string | number | boolean | undefined }
  readonly body?: JsonOf<B>
}

type Arguments<T> = Record<never, never> extends T ? [question?: T] : [question: T]

/**
 * Calls a read operation within the process, with the rights of the caller and the answer of HTTP. A refusal
 * is thrown as `Refused`. The answer of a `csvFormOf` is its `CsvFile`.
 */
export type CallOperation = <P extends string, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  operation: CallableOperation<P, Q, B, R>,
  ...question: Arguments<OperationInput<P, Q, B>>
) => Promise<JsonOf<R>>
