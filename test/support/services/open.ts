import type { RequestHandler } from 'express'
import {
  startChannelMessages,
  startDeadlineSweep,
  startWebhookDeliveries,
  startWebPush,
} from '../../../src/app/background.ts'
import type { ConnectionLimits } from '../../../src/app/connections.ts'
import { renewedLeases } from '../../../src/app/renewed-lease.ts'
import type { OpenRuntime, Stoppable } from '../../../src/app/runtime.ts'
import { openService, type Service } from '../../../src/app/service.ts'
import type { TemporalAccess } from '../../../src/app/temporal-access.ts'
import { areas as realAreas } from '../../../src/areas.ts'
import type { EventStreamTimes } from '../../../src/delivery/events/index.ts'
import type { Areas } from '../../../src/kernel/contract/area.ts'
import type { ExternalSystems } from '../../../src/kernel/contract/ports.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import type { OutboundHttp } from '../../../src/ports/outbound.ts'
import { IN_GERMANY, secretSettings, UNLIMITED } from './settings.ts'

/** Options that can be sent to another process. */
export interface PlainOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Adds relay, worker and deadlines with their own task queue. */
  readonly temporal?: TemporalAccess
  readonly deliverers?: number
  readonly pushes?: true
  /** Adds the sender of e-mail and of messages to Slack and Teams. */
  readonly messages?: true
  readonly streamTimes?: Partial<EventStreamTimes>
  readonly patience?: Partial<ConnectionLimits>
  /** As the programs read. It takes a second of processor, so few services do. */
  readonly readsInThread?: true
}

/** Options that only the test's own process can have: code. */
export interface CodeOptions<A extends Areas> {
  readonly areas?: A
  readonly outside?: Partial<ExternalSystems>
  /** Replaces the guarded HTTP client; a test's own receivers need only `OUTBOUND_ALLOW_CIDRS` in `env`. */
  readonly outbound?: OutboundHttp
  readonly middleware?: readonly RequestHandler[]
}

export interface Place {
  readonly databaseUrl: string
  /** Where uploaded files are stored, by all services of this database. */
  readonly filesDir: string
}

export interface OpenedServices {
  /** Starts a service on this database, as an API process would; returns its URL. */
  another(): Promise<string>
  stop(): Promise<void>
}

/** The real API, in this process. Background parts run beside its first service. */
export function openServices(
  { databaseUrl, filesDir }: Place,
  options: PlainOptions & CodeOptions<Areas>,
): OpenedServices {
  const env = {
    ...UNLIMITED,
    LOG_LEVEL: 'silent',
    ...IN_GERMANY,
    DATABASE_POOL: '10',
    FILES_DIR: filesDir,
    // The discard port: no test fetches the bank’s rates.
    EXCHANGE_RATES_URL: 'http://127.0.0.1:9/',
    // Without a worker no run carries out a payment.
    MPP_WORKFLOWS: options.temporal ? 'run' : 'request',
    ...options.env,
  }
  // Above the limit of the setting: on a busy machine an answer takes longer than a card network waits.
  const cardAuthTimeoutMs =
    options.env?.CARD_AUTH_TIMEOUT_MS === undefined ? { cardAuthTimeoutMs: 20_000 } : {}
  const settings = { ...readSettings(env), ...cardAuthTimeoutMs, ...secretSettings, databaseUrl }
  const services: Service[] = []
  const parts: Stoppable[] = []
  return {
    async another() {
      const service = await openService({
        settings,
        shared: true,
        areas: options.areas ?? realAreas,
        readsInThread: options.readsInThread ?? false,
        outside: options.outside ?? {},
        patience: options.patience ?? {},
        streamTimes: options.streamTimes ?? {},
        ...(options.outbound ? { outbound: options.outbound } : {}),
        ...(options.middleware ? { middleware: options.middleware } : {}),
      })
      services.push(service)
      if (options.pushes) parts.push(startWebPush(service.runtime))
      if (options.messages) parts.push(startChannelMessages(service.runtime))
      if (services.length === 1) parts.push(...(await partsBeside(service, options)))
      return `http://127.0.0.1:${await service.listen(0, '127.0.0.1')}`
    },
    async stop() {
      await Promise.all(parts.map(part => part.stop()))
      await Promise.all(services.map(service => service.stop()))
    },
  }
}

/** Loaded on demand, as most services do not need Temporal's SDK, which takes half a second. */
async function partsBeside(
  { runtime }: Service,
  { temporal, deliverers = 0 }: PlainOptions,
): Promise<readonly Stoppable[]> {
  const delivering = Array.from({ length: deliverers }, () => delivererOf(runtime))
  if (!temporal) return delivering
  const { startOutboxRelay: startRelay } = await import('../../../src/app/relay-service.ts')
  const { startTemporalWorker: startWork } = await import('../../../src/app/worker-service.ts')
  return [
    ...delivering,
    startDeadlineSweep(runtime),
    startRelay(runtime, temporal),
    startWork(runtime, temporal),
  ]
}

/** Works as in a process of its own: it does not know what another one of this runtime has claimed. */
function delivererOf(runtime: OpenRuntime): Stoppable {
  const { leases, stop } = renewedLeases(runtime.database, () => undefined)
  const deliverer = startWebhookDeliveries({ ...runtime, leases })
  return {
    async stop() {
      await deliverer.stop()
      await stop()
    },
  }
}
