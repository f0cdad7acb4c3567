import type { Pool } from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export interface ServedRequest {
  readonly operation: string | null
  /** The class of the operation. */
  readonly class: string
  readonly status: number
  readonly milliseconds: number
  readonly externalMilliseconds?: number | undefined
}

export interface Metrics {
  served(request: ServedRequest): void
  batch(operation: string, size: number, roundTrips: number): void
  sent(what: string, outcome: string, milliseconds: number): void
  /** Measures the time from an event to the first attempt to send it. */
  attempted(milliseconds: number): void
  /** Counts messages to people that arrived, are tried again, or are given up. */
  messaged(kind: string, outcome: 'sent' | 'retried' | 'dropped'): void
  reported(server: 'primary' | 'replica'): void
  /** Counts what the sweep carried out in place of a run. */
  rescued(operation: string, count?: number): void
  /** Counts the updates that a run refused at once, which leave no event in its history. */
  refusedUpdate(process: string, reason: string): void
  /** A gauge read at each scrape, with one value or one per `label`, `state` by default; NaN if reading fails. */
  watch(
    name: string,
    help: string,
    read: () => Promise<number | Readonly<Record<string, number>>>,
    label?: 'state' | 'follower' | 'kind',
  ): void
  /** Counts telemetry that reached no collector. */
  lost(signal: 'traces' | 'metrics', count: number): void
  text(): Promise<string>
  read(): Promise<readonly MetricFamily[]>
}

export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: readonly {
    readonly value: number
    readonly labels: Readonly<Record<string, string | number>>
    /** A histogram has the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string
  }[]
}

export function openMetrics(pool: Pool): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const { requests, times, ownTimes, sizes, trips, requestsOut, firstAttempts } = histogramsOf([registry])
  const { reports, rescues, refusedUpdates, lost, messages } = countersOf([registry])
  watchPool(pool, registry)
  return {
    served({ operation, class: of, status, milliseconds, externalMilliseconds = 0 }) {
      requests.inc({ operation: operation ?? 'none', status: String(status) })
      const [noun = 'none'] = operation?.split('.') ?? []
      times.observe({ noun, class: of, status: `${Math.floor(status / 100)}xx` }, milliseconds / 1000)
      if (of === 'external' && status < 300)
        ownTimes.observe({ noun }, (milliseconds - externalMilliseconds) / 1000)
    },
    batch(operation, size, roundTrips) {
      sizes.observe({ operation }, size)
      trips.observe({ operation }, roundTrips)
    },
    sent: (what, outcome, milliseconds) => requestsOut.observe({ what, outcome }, milliseconds / 1000),
    attempted: milliseconds => firstAttempts.observe(milliseconds / 1000),
    messaged: (kind, outcome) => messages.inc({ kind, outcome }),
    reported: server => reports.inc({ server }),
    rescued: (operation, count = 1) => rescues.inc({ operation }, count),
    refusedUpdate: (process, reason) => refusedUpdates.inc({ process, reason }),
    watch: (...gauge) => watch(registry, ...gauge),
    lost: (signal, count) => lost.inc({ signal }, count),
    text: () => registry.metrics(),
    read: async () => (await registry.getMetricsAsJSON()) as unknown as readonly MetricFamily[],
  }
}

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

function histogramsOf(registers: Registry[]) {
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests by operation and status.',
    labelNames: ['operation', 'status'],
    registers,
  })
  // Labelled by noun and status class: buckets for each operation and status would be megabytes per scrape.
  const times = new Histogram({
    name: 'http_request_seconds',
    help: 'Duration of requests by noun and class of the operation, and the class of the status.',
    labelNames: ['noun', 'class', 'status'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  const ownTimes = new Histogram({
    name: 'http_request_own_seconds',
    help: 'Duration of successful requests that call other systems, without the time of those.',
    labelNames: ['noun'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  const sizes = new Histogram({
    name: 'batch_size',
    help: 'Requests in one group commit.',
    labelNames: ['operation'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  })
  const trips = new Histogram({
    name: 'batch_round_trips',
    help: 'Round trips to the database in one group commit.',
    labelNames: ['operation'],
    buckets: [2, 4, 6, 8, 10],
    registers,
  })
  const requestsOut = new Histogram({
    name: 'outbound_request_seconds',
    help: 'Webhooks, pushes and messages to Slack and Teams by outcome.',
    labelNames: ['what', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const firstAttempts = new Histogram({
    name: 'webhook_first_attempt_seconds',
    help: 'Time from an event to the first attempt to send it to a receiver that was free.',
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  })
  return { requests, times, ownTimes, sizes, trips, requestsOut, firstAttempts }
}

function countersOf(registers: Registry[]) {
  const reports = new Counter({
    name: 'reports_total',
    help: 'Reports by the PostgreSQL server that answered, where DATABASE_REPLICA_URL is set.',
    labelNames: ['server'],
    registers,
  })
  const rescues = new Counter({
    name: 'rescues_total',
    help: 'Steps of runs that the sweep carried out, because the run was 30 seconds late.',
    labelNames: ['operation'],
    registers,
  })
  const refusedUpdates = new Counter({
    name: 'updates_refused_total',
    help: 'Updates that a run refused at once, by process and reason: malformed or ended.',
    labelNames: ['process', 'reason'],
    registers,
  })
  const lost = new Counter({
    name: 'telemetry_lost_total',
    help: 'Spans, and readings of metrics, that reached no collector.',
    labelNames: ['signal'],
    registers,
  })
  const messages = new Counter({
    name: 'messages_total',
    help: 'Messages to people by e-mail, Slack and Teams: sent, tried again, or given up.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  return { reports, rescues, refusedUpdates, lost, messages }
}

function watchPool(pool: Pool, registry: Registry): void {
  new Gauge({
    name: 'database_pool_connections',
    help: 'Database connections of this process by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'waited_for' }, pool.waitingCount)
    },
  })
}

function watch(
  registry: Registry,
  ...[name, help, read, label = 'state']: Parameters<Metrics['watch']>
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      const reading = await read().catch(() => Number.NaN)
      this.reset()
      if (typeof reading === 'number') this.set(reading)
      else for (const [of, value] of Object.entries(reading)) this.set({ [label]: of }, value)
    },
  })
}
