import type { EntityClass } from '@mikro-orm/core'
import type { z } from 'zod'
import { decodeJson } from '../../values/json-names.ts'
import type { Personal } from '../../values/personal.ts'
import type { Actor, CalledRun, Tenant } from './actor.ts'
import { type Aliases, addressesOf } from './addresses.ts'
import type { Outcome } from './call.ts'
import type { Context } from './context.ts'
import { completeDeadline, type Deadline, type OpenRecords, type Waiting } from './deadline.ts'
import type { Events } from './events.ts'
import type { Machine } from './machine.ts'
import type { Api, Handlers, Implemented, Registered } from './operation.ts'
import type { FindPayables, FindPayments } from './payables.ts'
import type { FindMissingIdentity, Ports, SignedRequest } from './ports.ts'
import type { Sql } from './sql.ts'

/**
 * Finds the actor that a presented secret belongs to; undefined for an unknown, expired or revoked one. What a page asks
 * by itself is in the background: it does not prove that a person is there.
 */
export type Authenticate = (secret: string, sql: Sql, isBackground: boolean) => Promise<Actor | undefined>

/** A run as a request names it: only one of the caller's tenant is found. */
export interface NamedRun extends Tenant {
  readonly id: string
}

/** Finds these runs, which may be of several tenants. */
export type FindRuns = (named: readonly NamedRun[], sql: Sql) => Promise<FoundRun[]>

export interface FoundRun extends Tenant, CalledRun {
  readonly agentId: string
}

/** What the service offers to an area that takes signed requests. */
export interface ReceiverTools {
  readonly ports: Ports
  readonly sql: Sql
  /** Logs a failure that the sender of the request does not see. */
  onFailure(error: unknown, requestId: string): void
  /** Runs an operation without callers for the tenant that the request is about. */
  run(key: string, actor: Actor, body: object, request: SignedRequest): Promise<Outcome>
}

/** The answer to a signed request, and for whom it was; null where the signature is missing, wrong or too old. */
export type Receive = (
  request: SignedRequest,
  tools: ReceiverTools,
) => Promise<{ readonly outcome: Outcome; readonly actor?: Actor } | { readonly unsigned: string }>

/** An area's response to another area's events, in the same transaction. */
export interface Reaction {
  readonly emits: Events
  /** Gets the events that were emitted one right after the other: what is read for all of them is read once. */
  readonly run: (events: readonly unknown[], context: Context<never, Events>) => Promise<void>
  /** Whether it responds to this event, if not to all of its name: hot operations emit many that need no response. */
  readonly concerns?: (data: Readonly<Record<string, unknown>>) => boolean
}

/** A response to those events only that have this member. */
export const onlyWith = (member: string, reaction: Reaction): Reaction => ({
  ...reaction,
  concerns: data => data[member] !== undefined && data[member] !== null,
})

/** A response to all of them at once. Events are kept as JSON, and read by their schema. */
export const reactionToAll = <D extends z.ZodType, E extends Events>(
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

/** A response to events that a request emits once. */
export const reaction = <D extends z.ZodType, E extends Events>(
  event: D,
  emits: E,
  run: (data: z.output<D>, context: Context<never, E>) => Promise<void>,
): Reaction =>
  reactionToAll(event, emits, async (events, context) => {
    for (const data of events) await run(data, context)
  })

/** Rows that are deleted some time after the instant in a column, in real time. The column needs an index. */
export interface Expiring {
  readonly table: string
  readonly column: string
  readonly keptMs: number
}

/** An area: one noun of the business, with everything that it contributes to the service. */
export interface Area<A extends Api = Api> {
  /** The title of its section in the documentation. */
  readonly name: string
  readonly about: string
  readonly api: A
  readonly handlers: Handlers<A>
  readonly entities: readonly EntityClass<object>[]
  /** What its tables hold about people. A test misses each column that can hold a text and is not named. */
  readonly personal: Personal
  /** The states of its nouns and the steps between them, for the documentation. */
  readonly machines: readonly Machine<string>[]
  /** Records that end at an instant. */
  readonly deadlines: readonly Required<Deadline>[]
  /** Records without a deadline whose processes wait by the tenant's time. */
  readonly waits: readonly Waiting[]
  /** Records that need a workflow run while they are open. */
  readonly openRecords: readonly OpenRecords[]
  readonly expiring: readonly Expiring[]
  readonly credentials: Readonly<Record<string, Authenticate>>
  /** Events that may end a credential: from their commit on, this process trusts none without looking it up. */
  readonly endsCredentials: readonly string[]
  readonly reactions: Readonly<Record<string, Reaction>>
  /** Events that can be subscribed to although no operation emits them yet. */
  readonly announces: Events
  /** Other names under which its addresses are served: of all operations that begin with them. */
  readonly aliases?: Aliases
  /** Looks up the runs that the header `X-Run-Id` names. */
  readonly findRuns?: FindRuns
  /** Looks up the area's payments on intents. */
  readonly findPayments?: FindPayments
  /** Looks up the area's records that ask for money, and that intents name as payees. */
  readonly findPayables?: FindPayables
  /** Says what is missing before the owner's identity is verified. */
  readonly findMissingIdentity?: FindMissingIdentity
  /** Takes the requests of its operations whose callers are `signed`, by the operation's name. */
  readonly receives?: Readonly<Record<string, Receive>>
}

type OptionalMember =
  | 'entities'
  | 'personal'
  | 'machines'
  | 'deadlines'
  | 'waits'
  | 'openRecords'
  | 'expiring'
  | 'credentials'
  | 'endsCredentials'
  | 'reactions'
  | 'announces'
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
  { api, handlers }: Implemented<A>,
  {
    entities = [],
    personal = {},
    machines = [],
    deadlines = [],
    waits = [],
    openRecords = [],
    expiring = [],
    credentials = {},
    endsCredentials = [],
    reactions = {},
    announces = {},
    ...others
  }: Optional = {},
): Area<A> => ({
  name,
  about,
  api,
  handlers,
  entities,
  personal,
  machines,
  deadlines: deadlines.map(completeDeadline),
  waits,
  openRecords,
  expiring,
  credentials,
  endsCredentials,
  reactions,
  announces,
  ...others,
})

export type Areas = Readonly<Record<string, Area>>

/** The operations that the API offers. */
export const published = (areas: Areas): Registered[] =>
  registered(areas).filter(({ operation }) => operation.callers.length > 0)

export function registered(areas: Areas): Registered[] {
  const aliases: Aliases = Object.assign({}, ...Object.values(areas).map(area => area.aliases))
  return Object.entries(areas).flatMap(([noun, { name, api, handlers }]) =>
    Object.entries(api).map(([verb, operation]) => ({
      key: `${noun}.${verb}`,
      tag: operation.tag ?? name,
      addresses: addressesOf(operation.path, aliases),
      operation,
      handler: handlers[verb],
    })),
  )
}
