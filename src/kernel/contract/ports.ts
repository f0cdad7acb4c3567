import type { FundingRail } from '../../ports/funding-rail.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { SepaRail } from '../../ports/sepa-rail.ts'
import type { Threads } from '../../ports/threads.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Mode, Tenant } from './actor.ts'
import type { EventType } from './events.ts'
import type { File } from './file.ts'
import type { FindPayments } from './intent-payments.ts'

/** What handlers may ask of the world around them; wired in `bin`. */
export interface Ports extends Outside {
  health(): Promise<Health>
  metrics(): Promise<string>
  /** Moves the tenant's test clock until it is so many milliseconds ahead, and lets happen what falls due on the way. */
  advanceClock(tenant: Tenant, toMs: number): Promise<void>
  /** The bank at which test wallets have their numbers. */
  readonly walletBank: { readonly code: string; readonly bic: string }
  /** The account to which live money is sent, if there is one, and in whose name wallets' numbers are. */
  readonly collection: { readonly iban: string | null; readonly bic: string | null; readonly holder: string }
  /** The payments on these intents, the newest first, whatever area makes them. */
  readonly paymentsOn: FindPayments
  readonly outbound: Outbound
  readonly vault: Vault
  readonly threads: Threads
  /** To whom push services turn about our messages: an address of mail, or a page. */
  readonly pushContact: string
  /** All events that can be subscribed to. */
  eventTypes(): Promise<readonly EventType[]>
  eventNames(): readonly string[]
  /** The OpenAPI document, as served. */
  openapi(): Promise<File>
  /** The reference for people, by addresses: `/docs`, its sections, and what they are made of. */
  docs(address: string): Promise<File | undefined>
}

/**
 * The systems of others, each behind an interface of its own. Test mode has one that pretends; asked for one that live
 * mode lacks, it throws the problem `not_configured`, which says what to set.
 */
export interface Outside {
  sepaRail(mode: Mode): SepaRail
  fundingRail(mode: Mode): FundingRail
}

export interface Health {
  database: 'ok' | 'unreachable'
  /** Null until durable processes exist. */
  temporal: 'ok' | 'unreachable' | null
  relay: { oldestSeconds: number | null }
  deliveries: { oldestSeconds: number | null; behind: number }
}
