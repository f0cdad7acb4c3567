import { guardedHttp } from '../adapters/guarded-http/guarded-http.ts'
import { smtpMail } from '../adapters/smtp/smtp.ts'
import { areas as allAreas } from '../areas.ts'
import type { EventStreamTimes } from '../delivery/events/index.ts'
import { callOperationFor } from '../derive/call-operation.ts'
import { type Authenticator, createAuthenticator } from '../derive/http/authenticate.ts'
import { type CredentialLookup, createCredentialLookup } from '../derive/http/credentials.ts'
import {
  createRateLimit,
  databaseRequestCounter,
  inMemoryRequestCounter,
  type RateLimit,
} from '../derive/http/rate-limit.ts'
import type { FindSignedReceiver } from '../derive/http/receive-signed.ts'
import { createProofVerifier } from '../derive/http/used-proofs.ts'
import { createTools, type ToolReports } from '../derive/tools/tools.ts'
import { DueWorkWatch } from '../kernel/background/watch.ts'
import { type Areas, allOperations } from '../kernel/contract/area.ts'
import type { RegisteredOperation } from '../kernel/contract/operation.ts'
import { PageCursors } from '../kernel/contract/page.ts'
import type { ExternalSystems, OperationSettings, Ports, RunningService } from '../kernel/contract/ports.ts'
import type { BindActivities } from '../kernel/contract/step.ts'
import { openOrm } from '../kernel/database/orm.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import type { ProcessLeases } from '../kernel/database/process-lease.ts'
import { Replica } from '../kernel/database/replica.ts'
import type { EventRow } from '../kernel/journal/journal.ts'
import { openNotifier } from '../kernel/journal/outbox.ts'
import { createExecutor, type ExecuteCall } from '../kernel/run/execute.ts'
import { withOwnerOperations } from '../kernel/run/other-owner.ts'
import { type CostlyReader, reactionsByEvent } from '../kernel/run/runtime.ts'
import { SystemTurns } from '../kernel/run/system-turns.ts'
import { refreshRates } from '../money/exchange-rates/index.ts'
import {
  type DatabaseWaitOptions,
  type OpenDatabase,
  openDatabase,
  requireMigrated,
  waitForDatabase,
} from '../platform/database.ts'
import { type ChannelListener, openListener } from '../platform/listener.ts'
import type { Logger } from '../platform/log.ts'
import { type Metrics, openMetrics } from '../platform/metrics.ts'
import { migrateDatabase } from '../platform/schema.ts'
import { languageModelSettings } from '../platform/settings/external-systems.ts'
import { smtpOf } from '../platform/settings/mail.ts'
import { dataCountriesOf } from '../platform/settings/residency.ts'
import type { Settings } from '../platform/settings/settings.ts'
import type { Telemetry } from '../platform/telemetry/tracer.ts'
import { type RunPages, runPages } from '../platform/temporal/run-pages.ts'
import { ThreadPool } from '../platform/threads/pool.ts'
import type { Mail } from '../ports/mail.ts'
import type { OutboundHttp } from '../ports/outbound.ts'
import { openVault } from '../ports/vault.ts'
import { openActivities } from './activities.ts'
import type { ConnectionLimits } from './connections.ts'
import { registerDatabaseMetrics } from './database-metrics.ts'
import { type EventFollowing, openEventFollowing } from './event-following.ts'
import { createExternalSystems, liveRailsOf } from './external-systems.ts'
import { createFileStore, withFileLossAlarm } from './files.ts'
import { refresherOfOldRates } from './old-rates.ts'
import { requireOnlyCustomer } from './only-customer.ts'
import {
  browserPageAddresses,
  type ListenAddress,
  type ServiceAddresses,
  serviceAddresses,
} from './own-addresses.ts'
import { createPorts, tenantOperationRunner } from './ports.ts'
import { inProcessDelivery, sandboxCallbacks, signedReceivers } from './receivers.ts'
import { openExternalCallLease } from './renewed-lease.ts'
import { openReports } from './reports.ts'
import { sepaQueue } from './sepa-queue.ts'
import { openSigner } from './signer.ts'
import { withTracedRequests } from './traced-outbound.ts'

export interface ServiceSettings extends Settings {
  databaseUrl: string
  dashboardSecret: string
  cursorSigningKey: string
  encryptionKey: string
}

export interface RuntimeOptions {
  readonly settings: ServiceSettings
  /** Set if the process waits for an unreachable database instead of failing. */
  readonly waiting?: DatabaseWaitOptions
  readonly patience?: Partial<ConnectionLimits>
  /** Several processes share the database, so none of them migrates it. */
  readonly shared?: boolean
  readonly areas?: Areas
  readonly outside?: Partial<ExternalSystems>
  readonly outbound?: OutboundHttp
  readonly streamTimes?: Partial<EventStreamTimes>
  /** Opens the thread that answers costly reads. Without it they run here. */
  readonly openReader?: (parts: ReaderParts) => OpenReader
  /** Set in the thread that reads: what the metrics of the process count. */
  readonly onNote?: (note: RuntimeNote) => void
}

/** Which server answered a report, or that a file is damaged or missing. */
export type RuntimeNote = 'primary' | 'replica' | 'file_lost'

/** What only the process knows, and pages show. */
export interface ProcessState {
  readonly listensAt: ListenAddress | undefined
  readonly webUi: string | null
  readonly temporal: boolean | null
}

export interface ReaderParts {
  readonly settings: ServiceSettings
  readonly state: () => Omit<ProcessState, 'temporal'>
  readonly temporal: () => Promise<boolean | null>
  readonly onNote: (note: RuntimeNote) => void
  readonly onFailure: (error: unknown) => void
}

type OpenReader = CostlyReader & Stoppable

export interface Stoppable {
  stop(): Promise<void>
}

export interface OpenRuntime extends EventFollowing, Pick<RunPages, 'showRunsAt'> {
  readonly settings: ServiceSettings
  readonly addresses: ServiceAddresses
  readonly areas: Areas
  readonly operations: readonly RegisteredOperation[]
  readonly database: OpenDatabase
  readonly leases: ProcessLeases
  readonly listener: ChannelListener
  readonly watch: DueWorkWatch
  readonly execute: ExecuteCall
  readonly gate: Authenticator
  readonly rateLimit: RateLimit
  readonly receiveFor: FindSignedReceiver
  readonly ports: Ports
  readonly threads: ThreadPool
  /** Turns of the calls that runs make. The sweep’s are beside them. */
  readonly turns: SystemTurns
  readonly activities: BindActivities
  readonly reader: OpenReader | undefined
  readonly onOutbox: () => void
  readonly log: Logger
  readonly metrics: Metrics
  readonly watchTemporal: (isServing: () => Promise<boolean | null>) => void
}

interface StoreOptions {
  readonly settings: ServiceSettings
  readonly waiting: DatabaseWaitOptions | undefined
  readonly shared: boolean
  readonly telemetry: Telemetry | null
}

async function openStore({ settings, waiting, shared, telemetry }: StoreOptions, log: Logger) {
  const { databaseUrl, databaseReplicaUrl, databasePool, encryptionKey, encryptionKeysOld } = settings
  const whenReachable = <T>(work: () => Promise<T>): Promise<T> =>
    waiting ? waitForDatabase(databaseUrl, waiting, work) : work()
  await whenReachable(() => (shared ? requireMigrated(databaseUrl) : migrateDatabase(databaseUrl)))
  const { pool, close } = openDatabase(databaseUrl, databasePool)
  const replica =
    databaseReplicaUrl === undefined ? undefined : openDatabase(databaseReplicaUrl, databasePool)
  const vault = openVault(encryptionKey, encryptionKeysOld)
  const onFailure = (error: unknown) => log.error({ err: error }, 'the signing keys cannot be read')
  const signer = await whenReachable(() => openSigner({ sql: sqlOn(pool), vault, onFailure }))
  // The database may stop before this process has closed its connections.
  waiting?.signal.addEventListener('abort', () => signer.stop())
  const { stop, ...calls } = openExternalCallLease({ pool }, log)
  const listener = openListener(databaseUrl)
  const database: OpenDatabase = {
    pool,
    async close() {
      signer.stop()
      await Promise.all([listener.stop(), stop(), telemetry?.stop()])
      await Promise.all([close(), replica?.close()])
    },
  }
  return { database, replica, listener, vault, signer, ...calls }
}

const guardOf = ({ outboundAllowCidrs = [] }: Settings, { listener }: ServiceAddresses): OutboundHttp =>
  guardedHttp({ allow: outboundAllowCidrs, ownListener: listener })

interface SystemParts extends Pick<RunningService, 'runFor' | 'deliver'> {
  readonly database: OpenDatabase
  readonly outbound: OutboundHttp
  readonly log: Logger
}

function systemsOf(
  { settings, outside = {} }: RuntimeOptions,
  { runFor, deliver, database, outbound, log }: SystemParts,
): ExternalSystems {
  const oldRates = refresherOfOldRates(() => refreshRates({ sql: sqlOn(database.pool), systems }), log)
  const callbacks = { ...sandboxCallbacks(deliver, log), oldRates }
  const systems = {
    ...createExternalSystems(settings, sepaQueue(runFor), callbacks, outbound),
    ...outside,
  }
  return systems
}

export async function openRuntime(options: RuntimeOptions): Promise<OpenRuntime> {
  const { settings, waiting, shared = false, areas = allAreas, streamTimes = {} } = options
  const addresses = serviceAddresses(settings)
  const { log, telemetry, tracing } = await openReports(settings)
  openOrm(Object.values(areas).flatMap(({ entities }) => entities))
  const store = await openStore({ settings, waiting, shared, telemetry }, log)
  const { database, replica, leases, listener, vault, signer, ...calls } = store
  await requireOnlyCustomer(settings, database, log)
  const metrics = metricsOf(store, telemetry, () => temporal())
  const notify = openNotifier(database, settings.backgroundIntervalMs)
  const onOutbox = () => notify(['outbox'])
  const [credentials, operations] = [createCredentialLookup(areas, database), allOperations(areas)]
  const times = { betweenManyMs: settings.backgroundIntervalMs, ...streamTimes }
  const following = openEventFollowing({ ...store, credentials, times, log, metrics })
  const rateLimit = rateLimitOf(settings, database, shared)
  const threads = new ThreadPool({ onFailure: error => log.error({ err: error }, 'a thread has failed') })
  const pages = runPages(settings)
  const onNote = options.onNote ?? noteIn(metrics)
  const reader = readerOf(options, addresses, pages, { temporal: () => temporal(), onNote, log })
  const inwards: RunningService['deliver'] = (key, request) => deliver(key, request)
  const later: ExecuteCall = call => execute(call)
  const runFor = tenantOperationRunner(later, operations)
  const tools = createTools(operations, later, watching(log))
  const outbound = withTracedRequests(options.outbound ?? guardOf(settings, addresses), tracing)
  const runtime = withOwnerOperations(operations, {
    database,
    replica: replica && reportingReplica(database, replica, log, onNote),
    reader,
    ports: createPorts({
      ...{ areas, database, metrics, rateLimit, onOutbox },
      docsUrl: settings.publicUrl,
      systems: {
        ...systemsOf(options, { runFor, deliver: inwards, database, outbound, log }),
        ...{ outbound, tracing, vault, signer, threads, mail: mailOf(settings) },
        files: withFileLossAlarm(createFileStore(settings, vault), log, () => onNote('file_lost')),
      },
      settings: operationSettings(settings),
      addresses: {
        ...browserPageAddresses(settings, addresses, warning => log.warn(warning)),
        runUrl: pages.runUrl,
      },
      operations: { runFor, deliver: inwards, tools },
      ...{ streams: following.streams, model: languageModelSettings(settings) },
      ...{ execute: later, activities: caller => activities(caller), temporal: () => temporal() },
    }),
    callOperationFor: callOperationFor(operations, later),
    cursors: new PageCursors(settings.cursorSigningKey),
    ...calls,
    reactions: reactionsByEvent(areas),
    onEvents: toAll<EventRow>(following.onEvents, signer.onEvents),
    notify,
    onBatch: metrics.batch,
  })
  let temporal: () => Promise<boolean | null> = async () => null
  const execute = createExecutor(runtime)
  const activities = openActivities(runtime, operations, settings, { metrics, log })
  const receiveFor = signedReceivers({ areas, ports: runtime.ports, database, operations, execute, log })
  const deliver = inProcessDelivery(receiveFor, operations)
  return {
    ...{ settings, addresses, areas, operations, database, leases, listener },
    watch: watchOf(database, settings, log),
    ...{ execute, log, metrics, showRunsAt: pages.showRunsAt },
    watchTemporal(isServing) {
      temporal = isServing
    },
    gate: gateOf(credentials, settings, database, runtime.ports.service),
    ...{ receiveFor, threads, reader, rateLimit, onOutbox, turns: new SystemTurns(), activities },
    ...{ ...following, ports: runtime.ports },
  }
}

function mailOf(settings: Settings): Mail | null {
  const smtp = smtpOf(settings)
  return smtp && smtpMail(smtp)
}

const gateOf = (
  credentials: CredentialLookup,
  { dashboardSecret }: RuntimeOptions['settings'],
  database: OpenDatabase,
  { publicUrl }: Pick<RunningService, 'publicUrl'>,
): Authenticator =>
  createAuthenticator(credentials, dashboardSecret, createProofVerifier(database), publicUrl)

const rateLimitOf = (settings: Settings, database: OpenDatabase, shared: boolean): RateLimit =>
  createRateLimit(
    settings.rateLimitPerMinute,
    shared ? databaseRequestCounter(database) : inMemoryRequestCounter(),
  )

function metricsOf(
  { database, replica, unrecordedAnswers }: Awaited<ReturnType<typeof openStore>>,
  telemetry: Telemetry | null,
  temporal: () => Promise<boolean | null>,
): Metrics {
  const metrics = openMetrics(database.pool)
  metrics.watch(
    'answers_kept',
    'Answers of external systems that are not recorded yet.',
    async () => unrecordedAnswers.count,
  )
  metrics.watch(
    'temporal_reachable',
    'Whether Temporal answers a process with a relay: 1 or 0.',
    async () => {
      const isReachable = await temporal()
      return isReachable === null ? {} : Number(isReachable)
    },
  )
  registerDatabaseMetrics(metrics, { database, replica })
  telemetry?.exportMetrics(metrics)
  return metrics
}

function noteIn(metrics: Metrics): (note: RuntimeNote) => void {
  let filesLost = 0
  metrics.watch('files_lost', 'Reads of damaged or missing files since the start.', async () => filesLost)
  return note => {
    if (note === 'file_lost') filesLost++
    else metrics.reported(note)
  }
}

const readerOf = (
  { settings, openReader }: RuntimeOptions,
  addresses: ServiceAddresses,
  pages: RunPages,
  { log, ...parts }: Pick<ReaderParts, 'temporal' | 'onNote'> & { readonly log: Logger },
): OpenReader | undefined =>
  openReader?.({
    settings,
    state: () => ({ listensAt: addresses.listenAddress(), webUi: pages.startedWebUi() }),
    onFailure: error => log.error({ err: error }, 'the thread that reads has failed'),
    ...parts,
  })

const reportingReplica = (
  primary: OpenDatabase,
  replica: OpenDatabase,
  log: Logger,
  onUse: (server: 'primary' | 'replica') => void,
) =>
  new Replica(primary, replica, {
    onUse,
    onFailure: (why, error) => log.warn({ err: error }, `Reports read the primary for ten seconds: ${why}.`),
  })

const watchOf = ({ pool }: OpenDatabase, { backgroundPollSeconds }: Settings, log: Logger): DueWorkWatch =>
  new DueWorkWatch({
    sql: sqlOn(pool),
    pollMs: backgroundPollSeconds * 1_000,
    onFailure: error => log.warn({ err: error }, 'PostgreSQL could not be asked what is due'),
  })

const toAll =
  <E extends { readonly event: string }>(...listeners: readonly ((events: readonly E[]) => void)[]) =>
  (events: readonly E[]): void => {
    for (const listen of listeners) listen(events)
  }

const watching = (log: Logger): ToolReports => ({
  onFailure: (error: unknown, requestId: string) => log.error({ err: error, requestId }, 'a tool has failed'),
  onCardNumber: (tool: string, requestId: string) =>
    log.warn({ tool, requestId }, 'a number like that of a card was kept from leaving by a tool'),
})

const operationSettings = (settings: ServiceSettings): OperationSettings => ({
  vapidSubject: settings.vapidSubject,
  weekendRelief: settings.doraWeekendRelief,
  securityContact: settings.securityContact ?? null,
  liveRails: liveRailsOf(settings),
  dataCountries: dataCountriesOf(settings),
  webhookRetrySeconds: settings.webhookRetrySeconds,
  cardAuthTimeoutMs: settings.cardAuthTimeoutMs,
  auditRetentionDays: settings.auditRetentionDays,
  filesQuotaBytes: settings.filesQuotaMib * 1_048_576,
  mppWorkflows: settings.mppWorkflows,
  cell: settings.cell ?? null,
  walletBank: { code: settings.bankCode, bic: settings.bankBic },
  collection: {
    iban: settings.collectionIban ?? null,
    bic: settings.collectionBic ?? null,
    holder: settings.accountHolder,
  },
})
