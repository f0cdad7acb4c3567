import { z } from 'zod'
import type { JsonOf } from '../../values/json-names.ts'
import type { CallerType } from './actor.ts'
import type { PathParameterName } from './addresses.ts'
import type { Context } from './context.ts'
import { CSV_TYPE } from './csv-file.ts'
import type { EventSchemas } from './events.ts'
import { csvSchema, isEndlessResponse, mediaTypeOf } from './file.ts'
import type { ExternalHandler, HotExternalHandler, HotHandler, PlainHandler } from './handlers.ts'
import { type PageQuerySchema, type PageSchema, pageQuerySchema, pageSchemaOf } from './page.ts'
import type { ExternalSystems } from './ports.ts'
import type { Scope } from './scopes.ts'
import type { AssistantOptions, SignatureOptions } from './tool.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `plain`: one transaction. `hot`: a group commit. `external`: reserve, call an external system, record.
 * `hot-external`: the same in group commits. `read`: a POST that changes nothing, with no event and no
 * transaction; a GET is one by default.
 */
export type RunMode = 'plain' | 'read' | 'hot' | 'external' | 'hot-external'

/** A refusal's status, its default message, and its form where that is not `{error}` alone. */
export type RefusalSpec = readonly [status: number, message: string, told?: RefusalForm]

export interface RefusalForm {
  readonly problem?: readonly [type: string, title: string]
  readonly rpcCode?: number
  readonly asks?: Readonly<Record<string, unknown>>
  /** What the header `Link` may name. The body has `error` alone, as that of every error. */
  readonly links?: 'challenge'
}

export interface RequestLimits {
  /** The largest body; see `maxBodyBytes`. 16 where a name that is too long must be a 400. */
  readonly bodyKiB?: 16 | 256 | 1_024
  /**
   * One call takes more than 50 ms of processor: calls of one owner run one at a time across all processes. A
   * further one waits for some seconds, then is refused as `rate_limited`.
   */
  readonly oneAtATime?: true
  /**
   * Whether it takes a turn of its owner: see `src/kernel/run/turns.ts`. By default long lists, reports, pages and
   * files do, and other reads a short one. `false` for a page that waits for another system, as a turn would be held
   * meanwhile.
   */
  readonly inTurn?: boolean | 'short'
  /**
   * Exempt from the rate limit: health checks, metrics and the documentation. `existing`: the handler counts a
   * search, and a page that does not exist.
   */
  readonly unmetered?: true | 'existing'
}

/** See "Speak a protocol of HTTP itself" in CONTRIBUTING. */
export interface HttpOptions {
  /** The request headers that the handler reads itself, in lower case, each with a description. */
  readonly reads?: Readonly<Record<string, string>>
  /** The headers that answers of a status may add, each with a description: see `withHeaders`. */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, string>>>>
  /** For how many seconds the answer, the same for all callers, may be cached. It has an `ETag`. */
  readonly cachedFor?: number
  readonly keyRequired?: true
  readonly howToSignIn?: string
  /** Its 401 names the metadata (RFC 9728) by which a client finds out where to get a token. */
  readonly issuesTokens?: true
}

export interface Contract<
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  F extends string,
  E extends EventSchemas,
  K extends RunMode,
> extends AssistantOptions,
    SignatureOptions {
  readonly summary: string
  readonly description?: string
  /** An operation without callers has no route: only the service's own processes run it. */
  readonly callers: readonly CallerType[]
  /** Why people in the console may not call what keys may: a sentence for the documentation. */
  readonly keyOnly?: string
  readonly scope?: Scope
  readonly run?: K
  readonly query?: Q
  readonly body?: B
  /**
   * Members of the body whose default 0.7.0 did not know: it has hashed the requests under its keys without them. For as long
   * as its keys are kept, a day after the upgrade.
   */
  readonly defaultsSince070?: readonly string[]
  readonly limits?: RequestLimits
  /** The stored answer is about the caller alone: no other caller in the scope of the `Idempotency-Key` gets it. */
  readonly repeatsForCaller?: true
  readonly returns: readonly [status: number, schema: R]
  /**
   * The record that a request with `Prefer: respond-async` (RFC 7240) is answered with, at 202: the work goes on after the
   * answer. See `Accepted`.
   */
  readonly accepted?: z.ZodType
  /** The path of that record, where the caller can follow it, with its id as `{id}`: `Location` of the 202. */
  readonly goesOnAt?: string
  /**
   * A request whose `Accept` prefers `text/csv` is answered with a `CsvFile`: the handler looks at `context.asCsv`. The
   * text says what its lines are.
   */
  readonly csv?: string
  readonly fails?: Readonly<Record<F, RefusalSpec>>
  readonly emits?: E
  readonly example?: JsonOf<B>
  readonly tag?: string
  /**
   * The external system that the operation needs. Live mode may lack it: see `ExternalSystems`. `passkeys`:
   * it makes a challenge, and is refused with 503 `passkeys_unavailable` where `service.relyingParty` has none.
   */
  readonly requires?: keyof ExternalSystems | 'passkeys'
  /**
   * A read whose handler uses `now`. In test mode that costs a query; a write gets the time with its opening
   * statement.
   */
  readonly readsClock?: true
  /** A read for people who look back: where there is a replica of PostgreSQL, that answers it. */
  readonly isReport?: true
  readonly http?: HttpOptions
}

export const PROBLEM_TYPES = 'https://paymentauth.org/problems/'

export const refusalFormOf = ({ fails }: Pick<AnyOperation, 'fails'>, code: string): RefusalForm =>
  fails?.[code]?.[2] ?? {}

/**
 * The handler reads the raw body, of any media type: it reads the request itself, and no schema parses the
 * body. A GET that only reads has none.
 */
export const readsRawBody = ({ http, body, method, emits }: AnyOperation): boolean =>
  http?.reads !== undefined && body === undefined && (method !== 'GET' || emitsEvents(emits))

/** A POST observes an `Idempotency-Key`, unless it detects repetitions by what it reads itself. */
export const takesIdempotencyKey = ({ method, http }: Pick<AnyOperation, 'method' | 'http'>): boolean =>
  method === 'POST' && http?.reads === undefined

/** Whether a stored answer is for who has asked, or for everybody in the scope of its key. A challenge asks one person. */
export const repeatsForCaller = ({ repeatsForCaller, requires }: AnyOperation): boolean =>
  repeatsForCaller ?? requires === 'passkeys'

/**
 * Every method but GET changes something, as a rule. A GET that emits an event runs as a write, and its HEAD
 * changes nothing.
 */
export const isWritingOperation = ({ method, emits, run }: AnyOperation): boolean =>
  (method !== 'GET' || emitsEvents(emits)) && run !== 'read'

/** Whether it calls another system: a bank, a processor, a merchant. */
export const callsOutside = ({ run }: AnyOperation): boolean => run === 'external' || run === 'hot-external'

/** What decides how long an operation may take: a page of docs/ has an objective for each but `stream`. */
export type OperationClass = 'read' | 'report' | 'stream' | 'write' | 'external'

/** A POST that only reads simulates or verifies: it computes, as a report does. */
export function operationClass(operation: AnyOperation): OperationClass {
  const { isReport, returns, run } = operation
  if (isEndlessResponse(returns[1])) return 'stream'
  if (isReport || run === 'read') return 'report'
  if (!isWritingOperation(operation)) return 'read'
  return callsOutside(operation) ? 'external' : 'write'
}

const emitsEvents = (emits: EventSchemas | undefined): boolean => Object.keys(emits ?? {}).length > 0

/**
 * The operation begins a session: it sets the cookie, or asks for a passkey. It is refused where the browser
 * does not say that one of the service's own pages has sent it.
 */
export const beginsSession = ({ callers, http, returns, requires }: AnyOperation): boolean =>
  callers.includes('public') &&
  (requires === 'passkeys' || 'Set-Cookie' in (http?.headers?.[returns[0]] ?? {}))

/** A page for signed-in people: a browser without a session is redirected to `SIGN_IN_PATH`. */
export const needsSignIn = ({ callers, returns }: AnyOperation): boolean =>
  callers.includes('console') && mediaTypeOf(returns[1]) === 'text/html'

export const SIGN_IN_PATH = '/login'

export interface Operation<
  P extends string = string,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  F extends string = string,
  E extends EventSchemas = EventSchemas,
  K extends RunMode = RunMode,
> extends Contract<Q, B, R, F, E, K> {
  readonly method: HttpMethod
  readonly path: P
  readonly emits: E
}

export interface OperationInput<P extends string, Q extends z.ZodType, B extends z.ZodType> {
  readonly params: Readonly<Record<PathParameterName<P>, string>>
  readonly query: z.output<Q>
  readonly body: z.output<B>
}

/**
 * The handler type of an operation, derived from its contract. `V` is what a hot one loads, or an external one
 * reserves; `A` is the other system's answer.
 */
export type HandlerOf<O, V = unknown, A = unknown> =
  O extends Operation<infer P, infer Q, infer B, infer R, infer F, infer E, infer K>
    ? {
        plain: PlainHandler<OperationInput<P, Q, B>, z.output<R>, F, E>
        read: PlainHandler<OperationInput<P, Q, B>, z.output<R>, F, E>
        hot: HotHandler<OperationInput<P, Q, B>, z.output<R>, F, E, V>
        external: ExternalHandler<OperationInput<P, Q, B>, z.output<R>, F, E, V, A>
        'hot-external': HotExternalHandler<OperationInput<P, Q, B>, z.output<R>, F, E, V, A>
      }[K]
    : never

/**
 * The handler of an operation that calls another system: reserve and commit, call, record and commit. The
 * types that steps hand on are inferred: no step names those of another.
 */
export const externalCall = <
  P extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  F extends string,
  E extends EventSchemas,
  V,
  A,
>(
  _operation: Operation<P, Q, B, R, F, E, 'external'>,
  steps: ExternalHandler<OperationInput<P, Q, B>, z.output<R>, F, E, V, A>,
): ExternalHandler<OperationInput<P, Q, B>, z.output<R>, F, E> => steps

export type InputOf<O> =
  O extends Operation<infer P, infer Q, infer B, infer _R, infer _F, infer _E, infer _K>
    ? OperationInput<P, Q, B>
    : never

export type ContextOf<O> =
  O extends Operation<infer _P, infer _Q, infer _B, infer _R, infer F, infer E, infer _K>
    ? Context<F, E>
    : never

// biome-ignore lint/suspicious/noExplicitAny: an operation of any types
export type AnyOperation = Operation<any, any, any, any, any, any, any>
export type Api = Readonly<Record<string, AnyOperation>>
export type Handlers<A extends Api> = { readonly [Name in keyof A]: HandlerOf<A[Name]> }

export interface ApiWithHandlers<A extends Api = Api> {
  readonly api: A
  readonly handlers: Handlers<A>
}

export const bindHandlers = <A extends Api>(api: A, handlers: Handlers<A>): ApiWithHandlers<A> => ({
  api,
  handlers,
})

export type Nothing = z.ZodObject<Record<never, never>>

/**
 * Operations for keys are open to people in the console, unless the contract says why not. A GET that changes
 * something is not: a browser sends the cookie with a GET that another site has caused.
 */
function callersOf(
  method: HttpMethod,
  {
    callers,
    keyOnly,
    emits,
  }: Pick<Contract<never, never, never, never, EventSchemas, RunMode>, 'callers' | 'keyOnly' | 'emits'>,
): readonly CallerType[] {
  if (!callers.includes('key') || callers.includes('console')) return callers
  if (keyOnly !== undefined || (method === 'GET' && emitsEvents(emits))) return callers
  return callers.flatMap((caller: CallerType): CallerType[] =>
    caller === 'key' ? ['key', 'console'] : [caller],
  )
}

const declare =
  (method: HttpMethod) =>
  <
    const P extends string,
    R extends z.ZodType,
    Q extends z.ZodType = Nothing,
    B extends z.ZodType = Nothing,
    F extends string = never,
    E extends EventSchemas = Record<never, never>,
    K extends RunMode = 'plain',
  >(
    path: P,
    contract: Contract<Q, B, R, F, E, K>,
  ): Operation<P, Q, B, R, F, E, K> => ({
    ...contract,
    callers: callersOf(method, contract),
    method,
    path,
    emits: contract.emits ?? ({} as E),
  })

export const get = declare('GET')
export const post = declare('POST')
export const put = declare('PUT')
export const patch = declare('PATCH')
export const del = declare('DELETE')

export type ListContract<S extends z.ZodRawShape, T extends z.ZodType, F extends string> = Omit<
  Contract<z.ZodType, Nothing, z.ZodType, F, Record<never, never>, 'plain'>,
  'query' | 'returns' | 'body'
> & { readonly item: T; readonly filters?: S }

export function list<
  const P extends string,
  T extends z.ZodType,
  S extends z.ZodRawShape = Record<never, never>,
  F extends string = never,
>(
  path: P,
  { item, filters, ...contract }: ListContract<S, T, F>,
): Operation<P, PageQuerySchema<S>, Nothing, PageSchema<T>, F, Record<never, never>, 'plain'> {
  return get(path, {
    ...contract,
    query: pageQuerySchema(filters ?? ({} as S)),
    returns: [200, pageSchemaOf(item)],
  }) as ReturnType<typeof list<P, T, S, F>>
}

/** 4 KiB for public operations, otherwise 64 KiB or what the contract says. */
export const maxBodyBytes = ({ callers, limits }: Pick<AnyOperation, 'callers' | 'limits'>): number =>
  (limits?.bodyKiB ?? (callers.includes('public') ? 4 : 64)) * 1_024

export const formatKiB = (bytes: number): string =>
  bytes < 1_048_576 ? `${bytes / 1_024} KiB` : `${Math.round(bytes / 104_857.6) / 10} MiB`

export const notFound = (noun: string): RefusalSpec => [404, `No such ${noun}.`]
export const notFoundOrDeleted = (noun: string): RefusalSpec => [
  404,
  `No such ${noun}, or it is deleted or being deleted.`,
]
/** An agent's token names its agent; a key must name one. */
export const agentRequiredRefusal: RefusalSpec = [
  400,
  'agentId: name the agent. Only an agent’s own token can omit it.',
]
export const emptyBody = z.undefined()

/** What operations answer that only the service's own processes run, and whose caller reads nothing of it. */
export const doneSchema = z.object({ done: z.boolean() })
export const DONE = { done: true } as const

/** Whether a signal or a notice has changed its record. */
export const actedSchema = z.object({ acted: z.boolean() })
export type Acted = z.output<typeof actedSchema>
export const ACTED = { acted: true } as const
export const NOT_ACTED = { acted: false } as const

const csvForms = new WeakMap<AnyOperation, AnyOperation>()

/** The contract as a request for CSV has it: the same, with a file as its answer. */
export function csvFormOf(operation: AnyOperation): AnyOperation {
  const known = csvForms.get(operation)
  if (known) return known
  const form = { ...operation, returns: [operation.returns[0], csvSchema] as const }
  csvForms.set(operation, form)
  return form
}

export const isCsvForm = ({ csv, returns }: AnyOperation): boolean =>
  csv !== undefined && mediaTypeOf(returns[1]) === CSV_TYPE

export interface RegisteredOperation {
  readonly key: string
  readonly tag: string
  readonly addresses: readonly string[]
  readonly operation: AnyOperation
  readonly handler: unknown
}
