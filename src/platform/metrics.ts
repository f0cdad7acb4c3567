import type { Pool } from 'pg'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { sqlOn } from '../kernel/database.ts'
import { oldestSeconds } from '../kernel/outbox.ts'

export interface Metrics {
  served(operation: string | null, status: number, milliseconds: number): void
  batch(operation: string, size: number, roundTrips: number): void
  text(): Promise<string>
}

export function openMetrics(pool: Pool): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'Requests by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
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
  watchPool(pool, registry)
  watchOutbox(pool, registry)
  return {
    served: (operation, status, milliseconds) =>
      requests.observe({ operation: operation ?? 'none', status: String(status) }, milliseconds / 1000),
    batch(operation, size, roundTrips) {
      sizes.observe({ operation }, size)
      trips.observe({ operation }, roundTrips)
    },
    text: () => registry.metrics(),
  }
}

function watchPool(pool: Pool, registry: Registry): void {
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections of this process by what they do.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'waited_for' }, pool.waitingCount)
    },
  })
}

function watchOutbox(pool: Pool, registry: Registry): void {
  new Gauge({
    name: 'outbox_oldest_seconds',
    help: 'Age of the oldest work that waits for Temporal; 0 where none does, NaN where the database is away.',
    registers: [registry],
    async collect() {
      this.set(
        await oldestSeconds(sqlOn(pool)).then(
          age => age ?? 0,
          () => Number.NaN,
        ),
      )
    },
  })
}
