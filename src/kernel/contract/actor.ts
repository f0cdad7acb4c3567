export type Mode = 'test' | 'live'

/** The owner and mode of every record. They come from the credential only. */
export interface Tenant {
  readonly ownerId: string
  readonly mode: Mode
}

/** A tenant and its time: one instant for the whole request, by the tenant's own clock. */
export interface TenantNow {
  readonly tenant: Tenant
  readonly now: Date
}

/**
 * `key`: an owner's API key; `console`: a signed-in person; `agent`: an agent's token; `dash`: the dashboard
 * secret; `signed`: an external system that signs; `public`: anyone.
 */
export type CallerType = 'key' | 'console' | 'agent' | 'dash' | 'signed' | 'public'

export interface Actor {
  readonly type: CallerType | 'process' | 'operator'
  readonly id: string | null
  /** The first of the API keys that this one has replaced. */
  readonly firstId?: string | null
  readonly tenant: Tenant | null
  readonly agentId: string | null
  readonly delegationId?: string | null
  readonly budgetId?: string | null
  /** Thumbprint of the device key that a DPoP-bound API key is tied to (RFC 9449). */
  readonly boundTo?: string | null
  /** The path of the only operation that accepts the credential. */
  readonly onlyAt?: string
  /**
   * The only mandate that approves what the credential spends; null: a person approves everything. Undefined: the
   * agent's policy and all its mandates decide.
   */
  readonly ownMandateId?: string | null
  /** The person with whose rights a device’s key calls, or who made a token: not for the console, whose `id` is the person’s. */
  readonly personId?: string | null
  /** The person who made the key or replaced it last, and so knows its secret. It says nothing of its rights. */
  readonly madeByPersonId?: string | null
  readonly scopes: ReadonlySet<string>
  /** True for keys that may write through an assistant's tools (MCP). */
  readonly toolWrites?: boolean
  readonly sessionId?: string
  readonly name?: string
}

/** Names who calls. An API key that has replaced another one is the same caller. */
export const callerOf = ({ type, id, firstId }: Pick<Actor, 'type' | 'id' | 'firstId'>): string =>
  `${type} ${firstId ?? id ?? ''}`

/** The person with whose rights the caller acts. A key that a person made in the console acts for the account. */
export const personOf = ({ type, id, personId }: Actor): string | null =>
  type === 'console' ? id : (personId ?? null)

/** The person who asks for something, in the console or with a credential that the person made. */
export const personBehind = (actor: Actor): string | null => actor.madeByPersonId ?? personOf(actor)

/**
 * The person whose own records alone the caller may see or change; null: those of all, as a key of the account, or with the
 * scope that manages others'. A key of a person's device reaches no further than the person in the console.
 */
export const limitedToPerson = (actor: Actor, managing: string): string | null =>
  actor.scopes.has(managing) ? null : personOf(actor)

/** Whether a record of this person is out of the caller's reach. */
export function isOthers(personId: string | null, actor: Actor, managing: string): boolean {
  const own = limitedToPerson(actor, managing)
  return own !== null && own !== personId
}

export const processActor = (tenant: Tenant) =>
  ({ type: 'process', id: null, tenant, agentId: null, scopes: new Set<string>() }) as const satisfies Actor

export interface RequestRun {
  readonly id: string
  readonly hasEnded: boolean
}
