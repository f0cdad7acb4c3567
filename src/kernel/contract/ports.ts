import type { Acquirer } from '../../ports/acquirer.ts'
import type { CardProcessor } from '../../ports/card-processor.ts'
import type { ExchangeRates } from '../../ports/exchange-rates.ts'
import type { FileStore } from '../../ports/files.ts'
import type { FundingRail } from '../../ports/funding-rail.ts'
import type { IdentityVerification } from '../../ports/identity-verification.ts'
import type { LanguageModel } from '../../ports/language-model.ts'
import type { Mail } from '../../ports/mail.ts'
import type { OutboundHttp } from '../../ports/outbound.ts'
import type { RelyingParty } from '../../ports/relying-party.ts'
import type { SepaRail } from '../../ports/sepa-rail.ts'
import type { Signer } from '../../ports/signer.ts'
import type { Threads } from '../../ports/threads.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Vault } from '../../ports/vault.ts'
import type { FileViewer } from '../../ports/viewer.ts'
import type { PersonalArea } from '../../values/personal.ts'
import type { Mode, Tenant } from './actor.ts'
import type { EventType } from './events.ts'
import type { ResponseFile } from './file.ts'
import type { OpenEventStream, WaitForEvents } from './follow.ts'
import type { FindIntentPayments, FindPayables } from './payables.ts'
import type { BoundActivities } from './process.ts'
import type { AskAreas } from './question.ts'
import type { Sql } from './sql.ts'
import type { OperationTools } from './tool.ts'

/** Sentences that say what is missing before the tenant's owner can create live keys; empty once they can. */
export type FindMissingIdentity = (sql: Sql, tenant: Tenant) => Promise<readonly string[]>

/** What a handler may use besides the database: a function takes the group, or the members, that it needs. */
export interface Ports {
  readonly systems: Systems
  readonly settings: OperationSettings
  readonly service: RunningService
}

/** What the service works with, each behind an interface of `src/ports`. */
export interface Systems extends ExternalSystems {
  readonly outbound: OutboundHttp
  readonly vault: Vault
  readonly signer: Signer
  readonly threads: Threads
  readonly files: FileStore
  /** Inspects uploads before their handlers run, where the contract says `viewed`. */
  readonly viewer: FileViewer
  /** Answers what the grammar of the conversation does not understand; null if none is configured. */
  readonly languageModel: LanguageModel | null
  /** Null if no mail server is configured. */
  readonly mail: Mail | null
  /** Null if nothing is traced. */
  readonly tracing: Tracing | null
}

/** The settings that operations read. They do not change while the service runs. */
export interface OperationSettings {
  /** The name of this cell; null if there is one installation. */
  readonly cell: string | null
  readonly walletBank: { readonly code: string; readonly bic: string }
  readonly collection: { readonly iban: string | null; readonly bic: string | null; readonly holder: string }
  /** The waits before the second attempt of a webhook, the third, and so on, on plans that retry. */
  readonly webhookRetrySeconds: readonly number[]
  /** Per owner and mode. */
  readonly filesQuotaBytes: number
  readonly cardAuthTimeoutMs: number
  readonly auditRetentionDays: number
  /** What carries out machine payments: their runs, or the requests that ask for them. */
  readonly mppWorkflows: 'run' | 'request'
  /**
   * For which reports of security incidents a deadline on a weekend or bank holiday moves to noon of the next
   * working day: for none, for the final one, or for all of them.
   */
  readonly weekendRelief: 'none' | 'final' | 'all'
  /** The address for vulnerability reports: a `mailto:` or `https:` URL; null if not configured. */
  readonly securityContact: string | null
  readonly liveRails: LiveRails
  readonly dataCountries: DataCountries
  readonly vapidSubject: string
}

/** The service as it runs: its addresses, its state, and what all its areas do together. */
export interface RunningService {
  /** The address of the service as its clients see it, without a trailing slash. */
  publicUrl(): string
  /** Passkeys belong to this site: from `PUBLIC_URL`, otherwise `http://localhost` with the service's port. */
  relyingParty(): RelyingParty
  pageUrl(path: string): string
  /** The run of a process in the Temporal Web UI; null if that is not configured. */
  runUrl(workflowId: string): string | null
  health(): Promise<ServiceHealth>
  metrics(): Promise<string>
  /** Runs an operation without callers for this tenant, in a transaction of its own. Throws where it is refused. */
  runFor(
    tenant: Tenant,
    operation: string,
    input: InternalOperationInput,
    requestId: string,
  ): Promise<unknown>
  /** Moves the tenant's test clock to this offset, running every deadline on the way. */
  advanceClock(tenant: Tenant, toMs: number): Promise<void>
  /** Hands a signed request to the area that receives it, as if by HTTP: simulated systems use it. */
  deliver(operation: string, request: SignedRequest): Promise<SignedDeliveryResult>
  readonly ask: AskAreas
  readonly paymentsOn: FindIntentPayments
  readonly findPayables: FindPayables
  readonly missingIdentity: FindMissingIdentity
  personalAreas(): readonly PersonalArea[]
  readonly tools: OperationTools
  eventTypes(): Promise<readonly EventType[]>
  readonly eventNames: readonly string[]
  readonly openEventStream: OpenEventStream
  readonly waitForEvents: WaitForEvents
  /** The activities of runs, as a request carries them out where no run does. */
  activitiesFor(requestId: string): BoundActivities
  openapi(): Promise<ResponseFile>
  docs(address: string): Promise<ResponseFile | undefined>
  /**
   * A page of the documentation for a query: its results, or what is near to an address that does not exist. The
   * search counts against the rate limit of the client's address, and throws a Problem above it.
   */
  searchDocs(query: DocsQuery, address: string | null): Promise<string>
}

export interface DocsQuery {
  readonly template: 'search' | 'missing'
  readonly words: string
  /** The beginning of the addresses to search. */
  readonly within?: string
}

/** A request of an external system. Its signature covers the raw bytes. */
export interface SignedRequest {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly requestId: string
  readonly address: string | null
}

export type SignedDeliveryResult =
  | { readonly status: number; readonly body: string; readonly errorCode: string | null }
  | { readonly unsigned: string }

export interface InternalOperationInput {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: object
}

/**
 * The external systems, each behind its own interface. Test mode always has simulators. For a system that
 * live mode lacks, the function throws the problem `not_configured`, which says what to set.
 */
export interface ExternalSystems {
  sepaRail(mode: Mode): SepaRail
  fundingRail(mode: Mode): FundingRail
  cardProcessor(mode: Mode): CardProcessor
  acquirer(mode: Mode): Acquirer
  /** Always there. Live mode has the ECB's beside a real rail. */
  exchangeRates(mode: Mode): ExchangeRates
  /** The same in both modes, and always there: a verified owner may create live keys. */
  identityVerification(): IdentityVerification
}

/** What serves live mode. Null: nothing does. `sandbox` is a simulation. */
export interface LiveRails {
  readonly sepaOut: 'files' | 'sandbox' | null
  readonly sepaIn: 'bank_account' | null
  readonly cards: 'stripe' | 'sandbox' | null
  /** By shared payment tokens of Stripe. */
  readonly machinePayments: 'stripe' | 'sandbox' | null
  /** Charges the payers of payment requests who are programs. */
  readonly acquirer: 'stripe' | null
  readonly paymentMethods: 'stripe' | 'sandbox' | null
  readonly identityVerification: 'stripe' | 'manual' | 'none' | 'sandbox'
}

/** The EU country of each store and of the mail server; null if the settings do not state it. */
export interface DataCountries {
  readonly database: string | null
  readonly temporal: string | null
  readonly files: string | null
  readonly mail: string | null
}

export interface ServiceHealth {
  database: 'ok' | 'unreachable'
  temporal: 'ok' | 'unreachable' | null
  relay: { oldestSeconds: number | null }
  deliveries: { oldestSeconds: number | null; behind: number }
}
