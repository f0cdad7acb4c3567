export type Mode = 'test' | 'live'

/** The owner and mode of every record: taken from the credential and from nowhere else. */
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
 * The kinds of caller: an owner's key, a person in the console, an agent's token, a merchant's key, the dashboard secret, an
 * external system that signs, anybody.
 */
export type Caller = 'key' | 'console' | 'agent' | 'merchant' | 'dash' | 'signed' | 'public'

/** The caller, as the credential proves it. */
export interface Actor {
  readonly type: Caller | 'process' | 'operator'
  /** The id of a person in the console, of any other credential its own. */
  readonly id: string | null
  readonly tenant: Tenant | null
  /** An agent's token reaches only that agent's records. */
  readonly agentId: string | null
  /** A token that was redeemed for a delegation reaches only the records made with it. */
  readonly delegationId?: string | null
  /** The token's id, where the token has a budget of its own. */
  readonly budgetId?: string | null
  /** Of a key that a device proves to hold another one beside (RFC 9449): the thumbprint of that one. */
  readonly boundTo?: string | null
  readonly scopes: ReadonlySet<string>
  /** Of a key that was made to change things by the tools of an assistant. */
  readonly toolWrites?: boolean
  /** Of a person in the console: the session. */
  readonly sessionId?: string
  /** Of a person in the console. */
  readonly name?: string
}

/** The service itself, at work for a tenant. */
export const processOf = (tenant: Tenant) =>
  ({ type: 'process', id: null, tenant, agentId: null, scopes: new Set<string>() }) as const satisfies Actor

/** The caller's run that a request belongs to, with everything that it creates. */
export interface CalledRun {
  readonly id: string
  readonly hasEnded: boolean
}
