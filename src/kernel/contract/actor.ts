export type Mode = 'test' | 'live'

/** To whom everything belongs: taken from the credential and from nowhere else. */
export interface Tenant {
  readonly ownerId: string
  readonly mode: Mode
}

/** A tenant and its time: one instant for the whole request, by the tenant's own clock. */
export interface TenantNow {
  readonly tenant: Tenant
  readonly now: Date
}

/** Who may call: an owner's key, an agent's token, the holder of the dashboard secret, anybody. */
export type Caller = 'key' | 'agent' | 'dash' | 'public'

/** Who calls, as the credential proves it. */
export interface Actor {
  readonly type: Caller | 'process' | 'operator'
  readonly id: string | null
  readonly tenant: Tenant | null
  /** An agent's token reaches only that agent's records. */
  readonly agentId: string | null
  /** A token that was redeemed for a delegation reaches only what was made with that. */
  readonly delegationId?: string | null
  /** The token that it calls with, where that has a budget of its own. */
  readonly budgetId?: string | null
  readonly scopes: ReadonlySet<string>
}

/** A run of the caller, to which whatever the request leaves behind belongs. */
export interface CalledRun {
  readonly id: string
  readonly hasEnded: boolean
}
