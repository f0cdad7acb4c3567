import { SEALING_DUE, sealPage } from '../compliance/audit/index.ts'
import { PUSHES_DUE, Pusher, unsubscribe } from '../delivery/push/index.ts'
import {
  BACKLOG_DUE,
  BacklogKeeper,
  Deliverer,
  expireDeliveries,
  giveUp,
} from '../delivery/webhooks/index.ts'
import { COUNTING_DUE, countSpend, isBehind } from '../insight/spend/index.ts'
import { endOverdue } from '../kernel/background/deadlines.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { repeatEvery, repeatOnWake } from '../platform/rounds.ts'
import { measured } from './database-metrics.ts'
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
  const { database, execute, listener, operations, ports, settings, log, watch } = runtime
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'deliveries: the database took or gave nothing')
  const lease = runtime.leases.of('deliveries')
  const deliverer = new Deliverer({
    database,
    lease,
    ports: { ...ports, outbound: measured(ports.outbound, runtime.metrics, 'webhook') },
    waitsMs: settings.webhookRetrySeconds.map(seconds => seconds * 1_000),
    giveUp: (id, why) => giveUp(runtime, id, why),
    onOutbox: runtime.onOutbox,
    onWaiting: () => keeper.wake(),
    onFailure,
    ...(pollMs === undefined ? {} : { pollMs }),
  })
  const keeper = new BacklogKeeper({ database, execute, operations, onFailure })
  const ignore = listener.on('deliveries', changed => {
    if (changed) deliverer.forget(changed)
    deliverer.notice()
  })
  const letGo = lease.keepWhile(() => deliverer.hasClaims)
  const unwatch = watch.add({ dueAt: BACKLOG_DUE, wake: keeper.wake, onFreed: deliverer.notice })
  const expiry = repeatEvery(EXPIRE_EVERY, () => expireDeliveries(database), onFailure)
  return {
    async stop() {
      ignore()
      await Promise.all([unwatch(), expiry.stop(), keeper.stop()])
      await deliverer.stop()
      letGo()
    },
  }
}

export function startPushes(runtime: OpenRuntime): Part {
  const { database, listener, ports, log, watch } = runtime
  const onFailure = (error: unknown) => log.warn({ err: error }, 'pushes: some were not sent')
  const measuredPorts = { ...ports, outbound: measured(ports.outbound, runtime.metrics, 'push') }
  const lease = runtime.leases.of('pushes')
  const pusher = new Pusher({
    database,
    ports: measuredPorts,
    onFailure,
    lease,
    unsubscribe: gone => unsubscribe(runtime, gone),
  })
  const ignore = listener.on('pushes', pusher.wake)
  const letGo = lease.keepWhile(() => pusher.hasClaims)
  const unwatch = watch.add({ dueAt: PUSHES_DUE, wake: pusher.round, onFreed: pusher.wake })
  return {
    async stop() {
      ignore()
      await unwatch()
      await pusher.stop()
      letGo()
    },
  }
}

/** Milliseconds after an event: well below the two seconds within which an entry is sealed. */
const SEAL_AFTER = 500

/** Seals the audit trails. Several processes may run it; one at a time finds work. */
export function startSealing(runtime: OpenRuntime): Part {
  const parts = { database: runtime.database, signer: runtime.ports.signer }
  const stopping = new AbortController()
  const seal = async (): Promise<void> => {
    while (!stopping.signal.aborted && (await sealPage(parts))) {}
  }
  const rounds = followJournal(runtime, { dueAt: SEALING_DUE, afterMs: SEAL_AFTER, work: seal }, error =>
    runtime.log.warn({ err: error }, 'the audit trail was not sealed'),
  )
  return {
    async stop() {
      stopping.abort()
      await rounds.stop()
    },
  }
}

/**
 * Milliseconds after an event. Together with a step, the sums are at most a second behind the payments.
 * Reports do not wait: they add what is missing.
 */
const COUNT_AFTER = 700

/** Keeps the sums of spending. Any number may run: one counts, and the others check again later. */
export function startSpend(runtime: OpenRuntime): Part {
  const { database, log } = runtime
  const sql = sqlOn(database.pool)
  let isStopping = false
  const count = async (): Promise<void> => {
    if (await isBehind(sql)) await countSpend(database, { isStopping: () => isStopping })
  }
  const rounds = followJournal(runtime, { dueAt: COUNTING_DUE, afterMs: COUNT_AFTER, work: count }, error =>
    log.warn({ err: error }, 'spend: what was paid is not in the sums yet; reports read it one by one'),
  )
  return {
    async stop() {
      isStopping = true
      await rounds.stop()
    },
  }
}

interface Follower {
  readonly dueAt: string
  readonly afterMs: number
  readonly work: () => Promise<unknown>
}

/** Works `afterMs` after an event, so that events that are close together share a round, and rests without any. */
function followJournal(
  { listener, watch }: Pick<OpenRuntime, 'listener' | 'watch'>,
  { dueAt, afterMs, work }: Follower,
  onFailure: (error: unknown) => void,
): Part {
  const rounds = repeatOnWake(afterMs, work, onFailure)
  const ignore = listener.on('journal', rounds.wake)
  const unwatch = watch.add({ dueAt, wake: rounds.wake })
  return {
    async stop() {
      ignore()
      await Promise.all([unwatch(), rounds.stop()])
    },
  }
}
