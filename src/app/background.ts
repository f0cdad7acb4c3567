import { sealPage } from '../compliance/audit/index.ts'
import { Pusher, unsubscribe } from '../delivery/push/index.ts'
import { BacklogKeeper, Deliverer, expireDeliveries, giveUp } from '../delivery/webhooks/index.ts'
import { countSpend, isBehind } from '../insight/spend/index.ts'
import { endOverdue } from '../kernel/background/deadlines.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { listen } from '../platform/listener.ts'
import { repeatEvery } from '../platform/rounds.ts'
import { measured } from './database-metrics.ts'
import { renewLease } from './renewed-lease.ts'
import type { OpenRuntime, Part } from './runtime.ts'

const DEADLINES_EVERY = 2_000

export const startDeadlines = (runtime: OpenRuntime): Part =>
  repeatEvery(
    DEADLINES_EVERY,
    () => endOverdue(runtime),
    error => runtime.log.warn({ err: error }, 'ending what is overdue failed'),
  )

const EXPIRE_EVERY = 600_000

export function startDeliveries(runtime: OpenRuntime, pollMs?: number): Part {
  const { database, ports, settings, log } = runtime
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'deliveries: the database took or gave nothing')
  const renewed = renewLease(database, 'deliveries', { wake: () => deliverer.notice(), onFailure })
  const deliverer = new Deliverer({
    database,
    lease: renewed.lease,
    ports: { ...ports, outbound: measured(ports.outbound, runtime.metrics, 'webhook') },
    waitsMs: settings.webhookRetrySeconds.map(seconds => seconds * 1_000),
    giveUp: (id, why) => giveUp(runtime, id, why),
    onOutbox: runtime.onOutbox,
    onFailure,
    ...(pollMs === undefined ? {} : { pollMs }),
  })
  const listener = listen(settings.databaseUrl, 'deliveries', changed => {
    if (changed) deliverer.forget(changed)
    deliverer.notice()
  })
  const { execute, operations } = runtime
  const keeper = new BacklogKeeper({ database, execute, operations, onFailure })
  const expiry = repeatEvery(EXPIRE_EVERY, () => expireDeliveries(database), onFailure)
  return {
    async stop() {
      await Promise.all([listener.stop(), expiry.stop(), keeper.stop()])
      await deliverer.stop()
      await renewed.end()
    },
  }
}

const LOOK_EVERY = 30_000

export function startPushes(runtime: OpenRuntime): Part {
  const { database, ports, settings, log } = runtime
  const onFailure = (error: unknown) => log.warn({ err: error }, 'pushes: some were not sent')
  const measuredPorts = { ...ports, outbound: measured(ports.outbound, runtime.metrics, 'push') }
  const renewed = renewLease(database, 'pushes', { wake: () => pusher.wake(), onFailure })
  const pusher = new Pusher({
    database,
    ports: measuredPorts,
    onFailure,
    lease: renewed.lease,
    unsubscribe: gone => unsubscribe(runtime, gone),
  })
  const listener = listen(settings.databaseUrl, 'pushes', pusher.wake)
  const rounds = repeatEvery(LOOK_EVERY, () => pusher.round(), onFailure)
  return {
    async stop() {
      await Promise.all([listener.stop(), rounds.stop()])
      await pusher.stop()
      await renewed.end()
    },
  }
}

/** Milliseconds: well below the two seconds within which an entry is sealed. */
const SEAL_EVERY = 500

/** Seals the audit trails. Several processes may run it; one at a time finds work. */
export function startSealing(runtime: OpenRuntime): Part {
  const parts = { database: runtime.database, signer: runtime.ports.signer }
  const stopping = new AbortController()
  const rounds = repeatEvery(
    SEAL_EVERY,
    async () => {
      while (!stopping.signal.aborted && (await sealPage(parts))) {}
    },
    error => runtime.log.warn({ err: error }, 'the audit trail was not sealed'),
  )
  return {
    async stop() {
      stopping.abort()
      await rounds.stop()
    },
  }
}

/**
 * Milliseconds. Together with a step, the sums are at most a second behind the payments. Reports do not wait:
 * they add what is missing.
 */
const COUNT_EVERY = 700

/** Keeps the sums of spending. Any number may run: one counts, and the others check again later. */
export function startSpend({ database, log }: Pick<OpenRuntime, 'database' | 'log'>): Part {
  const sql = sqlOn(database.pool)
  let isStopping = false
  const count = async (): Promise<void> => {
    if (await isBehind(sql)) await countSpend(database, { isStopping: () => isStopping })
  }
  const rounds = repeatEvery(COUNT_EVERY, count, error =>
    log.warn({ err: error }, 'spend: what was paid is not in the sums yet; reports read it one by one'),
  )
  return {
    async stop() {
      isStopping = true
      await rounds.stop()
    },
  }
}
