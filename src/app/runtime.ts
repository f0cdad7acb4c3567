import { guardedHttp } from '../adapters/guarded-http/guarded-http.ts'
import { areas as allAreas } from '../areas.ts'
import { type Gate, gate } from '../derive/http/authenticate.ts'
import { openCredentials } from '../derive/http/credentials.ts'
import type { ReceiveFor } from '../derive/http/receive-signed.ts'
import { type Areas, registered } from '../kernel/contract/area.ts'
import type { Registered } from '../kernel/contract/operation.ts'
import { Cursors } from '../kernel/contract/page.ts'
import type { ExternalSystems, Ports } from '../kernel/contract/ports.ts'
import { announcersOf } from '../kernel/journal/outbox.ts'
import { type Execute, executor } from '../kernel/run/execute.ts'
import { type Runtime, reactionsOf } from '../kernel/run/runtime.ts'
import { type OpenDatabase, openDatabase, requireMigrated } from '../platform/database.ts'
import { onceReachable, type Waiting } from '../platform/database-wait.ts'
import { type Logger, openLog } from '../platform/log.ts'
import { type Metrics, openMetrics } from '../platform/metrics.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { ThreadPool } from '../platform/threads/pool.ts'
import type { Outbound } from '../ports/outbound.ts'
import { openVault } from '../ports/vault.ts'
import type { ConnectionLimits } from './connections.ts'
import { watchDatabase } from './database-metrics.ts'
import { externalSystemsOf } from './external-systems.ts'
import { type OwnAddresses, ownAddresses } from './own-addresses.ts'
import { ownOperations } from './own-operations.ts'
import { portsOf } from './ports.ts'
import { deliveryTo, receiversOf } from './receivers.ts'
import { sepaQueue } from './sepa-queue.ts'

/** The settings that a running service must have: configured, or generated at the first start. */
export interface ServiceSettings extends Settings {
  databaseUrl: string
  dashboardSecret: string
  secretKey: string
  encryptionKey: string
}

export interface RuntimeOptions {
  readonly settings: ServiceSettings
  /** Set where the process waits for an unreachable database instead of failing. */
  readonly waiting?: Waiting
  /** Limits of client connections that differ from the defaults. */
  readonly patience?: Partial<ConnectionLimits>
  /** Several processes share the database: none of them migrates it. */
  readonly shared?: boolean
  readonly areas?: Areas
  /** External systems in place of those that the settings choose. */
  readonly outside?: Partial<ExternalSystems>
  /** Replaces the guarded HTTP client. */
  readonly outbound?: Outbound
}

/** A background part of a process, such as the relay. */
export interface Part {
  stop(): Promise<void>
}

/** Everything that running operations needs. Servers and background parts are started on it. */
export interface OpenRuntime {
  readonly settings: ServiceSettings
  readonly addresses: OwnAddresses
  readonly areas: Areas
  readonly operations: readonly Registered[]
  readonly database: OpenDatabase
  readonly execute: Execute
  readonly gate: Gate
  readonly receiveFor: ReceiveFor
  readonly ports: Ports
  /** To be stopped before the database is closed. */
  readonly threads: ThreadPool
  readonly onOutbox: () => void
  readonly log: Logger
  readonly metrics: Metrics
  /** Sets the function by which `/health` learns whether Temporal answers. */
  readonly watchTemporal: (isServing: () => Promise<boolean>) => void
}

/** Only a process that migrates loads the migrations: they take a fifth of a second. */
async function migrateHere(databaseUrl: string): Promise<void> {
  const { migrate } = await import('../platform/schema.ts')
  await migrate(databaseUrl)
}

async function prepareDatabase(databaseUrl: string, shared: boolean, waiting?: Waiting): Promise<void> {
  const prepare = () => (shared ? requireMigrated(databaseUrl) : migrateHere(databaseUrl))
  await (waiting ? onceReachable(databaseUrl, waiting, prepare) : prepare())
}

const guardOf = ({ outboundAllowCidrs = [] }: Settings, { listener }: OwnAddresses): Outbound =>
  guardedHttp({ allow: outboundAllowCidrs, ownListener: listener })

export async function openRuntime({
  settings,
  waiting,
  shared = false,
  areas = allAreas,
  outside = {},
  outbound: replaced,
}: RuntimeOptions): Promise<OpenRuntime> {
  const addresses = ownAddresses(settings)
  const outbound = replaced ?? guardOf(settings, addresses)
  const { databaseUrl, secretKey } = settings
  const log = openLog(settings.logLevel, secretsIn(settings))
  await prepareDatabase(databaseUrl, shared, waiting)
  const database = openDatabase(databaseUrl, settings.databasePool)
  const metrics = openMetrics(database.pool)
  watchDatabase(metrics, database)
  const announcers = announcersOf(database)
  const credentials = openCredentials(areas, database)
  const operations = registered(areas)
  const threads = new ThreadPool({ onFailure: error => log.error({ err: error }, 'a thread has failed') })
  const runFor = ownOperations(call => execute(call), operations)
  const runtime: Runtime = {
    database,
    ports: portsOf({
      areas,
      database,
      metrics,
      publicUrl: addresses.publicUrl,
      ...configured(settings),
      outside: { ...externalSystemsOf(settings, sepaQueue(runFor)), ...outside },
      outbound,
      threads,
      runFor,
      deliver: (key, request) => deliver(key, request),
      execute: call => execute(call),
      onOutbox: announcers.outbox,
      temporal: () => temporal(),
    }),
    cursors: new Cursors(secretKey),
    reactions: reactionsOf(areas),
    onEvents: credentials.onEvents,
    announcers,
    onBatch: metrics.batch,
  }
  let temporal: () => Promise<boolean | null> = async () => null
  const watchTemporal: OpenRuntime['watchTemporal'] = isServing => {
    temporal = isServing
  }
  const execute = executor(runtime)
  const receiveFor = receiversOf({ areas, ports: runtime.ports, database, operations, execute, log })
  const deliver = deliveryTo(receiveFor, operations)
  return {
    settings,
    addresses,
    areas,
    operations,
    database,
    execute,
    log,
    metrics,
    watchTemporal,
    gate: gate(credentials, settings.dashboardSecret),
    receiveFor,
    threads,
    ports: runtime.ports,
    onOutbox: announcers.outbox,
  }
}

/** The secrets that must never appear in the log. */
const secretsIn = ({
  dashboardSecret,
  secretKey,
  encryptionKey,
  encryptionKeysOld = [],
  temporalApiKey,
}: ServiceSettings): string[] =>
  [dashboardSecret, secretKey, encryptionKey, ...encryptionKeysOld, temporalApiKey ?? []].flat()

/** What handlers may use that the settings alone decide. */
const configured = (settings: ServiceSettings) => ({
  docsUrl: settings.publicUrl,
  vault: openVault(settings.encryptionKey, settings.encryptionKeysOld ?? []),
  pushContact: settings.pushContact,
  cardAnswerMs: settings.cardAnswerMs,
  walletBank: { code: settings.bankCode, bic: settings.bankBic },
  collection: {
    iban: settings.collectionIban ?? null,
    bic: settings.collectionBic ?? null,
    holder: settings.accountHolder,
  },
})
