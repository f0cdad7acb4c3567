import type { EntityClass } from '@mikro-orm/core'
import type { z } from 'zod'
import { decodeJson } from '../../values/json-names.ts'
import type { PersonalAdditions, PersonalData } from '../../values/personal.ts'
import type { Actor, RequestRun, Tenant } from './actor.ts'
import { operationAddresses, type PathAliases } from './addresses.ts'
import type { ApiResponse } from './call.ts'
import type { Context } from './context.ts'
import {
  type ClockWaitingRecords,
  type Deadline,
  type OpenRecordsQuery,
  withDeadlineDefaults,
} from './deadline.ts'
import type { EventSchemas } from './events.ts'
import type { StateMachine } from './machine.ts'
import type { Api, ApiWithHandlers, Handlers, RegisteredOperation } from './operation.ts'
import type { FindIntentPayments, FindPayables } from './payables.ts'
import type { FindMissingIdentity, Ports, SignedRequest } from './ports.ts'
import type { RegisteredAnswer } from './question.ts'
import type { Sql } from './sql.ts'
import { type Step, stepOperation } from './step.ts'

/**
 * Returns the actor of a secret; undefined for an unknown, expired or revoked one. `isBackground`: a page
 * refreshes itself, which does not extend a person's session.
 */
export type AuthenticateSecret = (
  secret: string,
  sql: Sql,
  isBackground: boolean,
) => Promise<Actor | undefined>

export interface NamedRun extends Tenant {
  readonly id: string
}

export type FindRuns = (named: readonly NamedRun[], sql: Sql) => Promise<FoundRun[]>

export interface FoundRun extends Tenant, RequestRun {
  readonly agentId: string
}

export interface ReceiverTools extends Ports {
  readonly sql: Sql
  onFailure(error: unknown, requestId: string): void
  run(key: string, actor: Actor, body: object, request: SignedRequest): Promise<ApiResponse>
}

export type SignedRequestReceiver = (
  request: SignedRequest,
  tools: ReceiverTools,
) => Promise<{ readonly outcome: ApiResponse; readonly actor?: Actor } | { readonly unsigned: string }>

export interface Reaction {
  readonly emits: EventSchemas
  /** Gets events emitted in a row, so that what they share is read once. */
  readonly run: (events: readonly unknown[], context: Context<never, EventSchemas>) => Promise<void>
  /** Filters the events of its name: hot operations emit many that need no response. */
  readonly concerns?: (data: Readonly<Record<string, unknown>>) => boolean
}

export const whenMemberPresent = (member: string, reaction: Reaction): Reaction => ({
  ...reaction,
  concerns: data => data[member] !== undefined && data[member] !== null,
})

/** A reaction to all of them at once. Events are stored as JSON and parsed by their schema. */
export const reactionToAll = <D extends z.ZodType, E extends EventSchemas>(
  event: D,
  emits: E,
  run: (events: readonly z.output<D>[], context: Context<never, E>) => Promise<void>,
): Reaction => ({
  emits,
  run: (events, context) => {
    const read = events.map(data => decodeJson(event, data))
    return run(read, context as Context<never, E>)
  },
})

export const reaction = <D extends z.ZodType, E extends EventSchemas>(
  event: D,
  emits: E,
  run: (data: z.output<D>, context: Context<never, E>) => Promise<void>,
): Reaction =>
  reactionToAll(event, emits, async (events, context) => {
    for (const data of events) await run(data, context)
  })

/** Rows that are deleted some time after the instant in a column, in real time. The column needs an index. */
export interface ExpiringRows {
  readonly table: string
  readonly column: string
  readonly keptMs: number
}

/** One noun of the business with everything that it contributes to the service. */
export interface Area<A extends Api = Api> {
  readonly name: string
  readonly about: string
  readonly api: A
  readonly handlers: Handlers<A>
  /** What its processes do by themselves. */
  readonly steps: Readonly<Record<string, Step>>
  readonly entities: readonly EntityClass<object>[]
  /** Personal data in its tables without an entity: the others say it at their columns. A test finds each text column that does not. */
  readonly personal: PersonalData
  /** What it adds to tables of other areas. */
  readonly personalAdditions: PersonalAdditions
  readonly machines: readonly StateMachine<string>[]
  readonly deadlines: readonly Required<Deadline>[]
  readonly waits: readonly ClockWaitingRecords[]
  readonly openRecords: readonly OpenRecordsQuery[]
  readonly expiring: readonly ExpiringRows[]
  readonly credentials: Readonly<Record<string, AuthenticateSecret>>
  /** Events that may end a credential: after their commit this process looks up every credential again. */
  readonly endsCredentials: readonly string[]
  readonly reactions: Readonly<Record<string, Reaction>>
  readonly announces: EventSchemas
  readonly answers: readonly RegisteredAnswer[]
  readonly aliases?: PathAliases
  readonly findRuns?: FindRuns
  readonly findPayments?: FindIntentPayments
  readonly findPayables?: FindPayables
  readonly findMissingIdentity?: FindMissingIdentity
  readonly receives?: Readonly<Record<string, SignedRequestReceiver>>
}

type OptionalMember =
  | 'steps'
  | 'entities'
  | 'personal'
  | 'personalAdditions'
  | 'machines'
  | 'deadlines'
  | 'waits'
  | 'openRecords'
  | 'expiring'
  | 'credentials'
  | 'endsCredentials'
  | 'reactions'
  | 'announces'
  | 'answers'
  | 'aliases'
  | 'findRuns'
  | 'findPayments'
  | 'findPayables'
  | 'findMissingIdentity'
  | 'receives'
type Optional = Partial<Omit<Pick<Area, OptionalMember>, 'deadlines'>> & {
  readonly deadlines?: readonly Deadline[]
}

export const area = <A extends Api>(
  name: string,
  about: string,
  { api, handlers }: ApiWithHandlers<A>,
  {
    steps = {},
    entities = [],
    personal = {},
    personalAdditions = {},
    machines = [],
    deadlines = [],
    waits = [],
    openRecords = [],
    expiring = [],
    credentials = {},
    endsCredentials = [],
    reactions = {},
    announces = {},
    answers = [],
    ...others
  }: Optional = {},
): Area<A> => ({
  name,
  about,
  api,
  handlers,
  steps,
  entities,
  personal,
  personalAdditions,
  machines,
  deadlines: deadlines.map(withDeadlineDefaults),
  waits,
  openRecords,
  expiring,
  credentials,
  endsCredentials,
  reactions,
  announces,
  answers,
  ...others,
})

export type Areas = Readonly<Record<string, Area>>

export const publishedOperations = (areas: Areas): RegisteredOperation[] =>
  allOperations(areas).filter(({ operation }) => operation.callers.length > 0)

export function allOperations(areas: Areas): RegisteredOperation[] {
  const aliases: PathAliases = Object.assign({}, ...Object.values(areas).map(area => area.aliases))
  return Object.entries(areas).flatMap(([noun, { name, api, handlers, steps }]) => [
    ...Object.entries(api).map(([verb, operation]) => ({
      key: `${noun}.${verb}`,
      tag: operation.tag ?? name,
      addresses: operationAddresses(operation.path, aliases),
      operation,
      handler: handlers[verb],
    })),
    ...Object.values(steps).map(step => stepOperation(step, name)),
  ])
}
