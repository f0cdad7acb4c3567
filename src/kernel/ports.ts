import type { Tenant } from './context.ts'
import type { File } from './file.ts'

/** What handlers may ask of the world around them; wired in `bin`. */
export interface Ports {
  health(): Promise<Health>
  metrics(): Promise<string>
  /** How many milliseconds the tenant's test clock is ahead, at this moment. */
  clockOffset(tenant: Tenant): Promise<number>
  /** Moves the tenant's test clock until it is so many milliseconds ahead, and lets happen what falls due on the way. */
  advanceClock(tenant: Tenant, toMs: number): Promise<void>
  /** The bank at which test wallets have their numbers. */
  readonly walletBank: { readonly code: string; readonly bic: string }
  /** The OpenAPI document, as served. */
  openapi(): string
  /** The reference as a page. */
  docs(): File
  /** What the page is made of; undefined where there is none of that name. */
  docsAsset(name: string): File | undefined
}

export interface Health {
  database: 'ok' | 'unreachable'
  /** Null until durable processes exist. */
  temporal: 'ok' | 'unreachable' | null
  relay: { oldestSeconds: number | null }
}
