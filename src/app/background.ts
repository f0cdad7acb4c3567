import { SEALING_DUE_SQL, sealNextPage } from '../compliance/audit/index.ts'
import { ChannelSender, MESSAGES_DUE_SQL } from '../delivery/channels/index.ts'
import { deletePushSubscription, PUSHES_DUE_SQL, PushSender } from '../delivery/push/index.ts'
import {
  BACKLOG_DUE_SQL,
  BacklogKeeper,
  disableWebhook,
  WebhookDeliverer,
  webhookSteps,
} from '../delivery/webhooks/index.ts'
import { COUNTING_DUE_SQL, countSpend, isSpendCountBehind } from '../insight/spend/index.ts'
import { CallsBeside } from '../kernel/background/calls-beside.ts'
import { endOverdueRecords, type Rescue } from '../kernel/background/deadlines.ts'
import { WITHOUT_RUN } from '../kernel/contract/deadline.ts'
import type { Systems } from '../kernel/contract/ports.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import { repeatEvery, repeatOnWake } from '../platform/rounds.ts'
import { withOutboundMetrics } from './database-metrics.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'
import { webhookAttempts } from './webhook-attempts.ts'

const DEADLINES_EVERY = 2_000
/** A run acts within two seconds. The sweep takes over what is so late that its run does not act. */
const RESCUE_AFTER_MS = 30_000

export function startDeadlineSweep(runtime: OpenRuntime): Stoppable {
  const { areas, log, metrics } = runtime
  // A counter that begins at zero shows its first increase.
  for (const operation of rescuingOperations(areas)) metrics.rescued(operation, 0)
  const onRescue = ({ operation, ...rescue }: Rescue): void => rescueReport(runtime, operation)(rescue)
  const onFailure = (error: unknown) => log.warn({ err: error }, 'ending what is overdue failed')
  const calls = new CallsBeside(onFailure)
  const rounds = repeatEvery(
    DEADLINES_EVERY,
    () => endOverdueRecords({ ...runtime, rescueAfterMs: RESCUE_AFTER_MS, onRescue, calls }),
    onFailure,
  )
  return {
    async stop() {
      await rounds.stop()
      await calls.settle()
    },
  }
}

const rescueReport =
  ({ metrics, log }: OpenRuntime, operation: string) =>
  ({ id, dueAt }: Pick<Rescue, 'id' | 'dueAt'>): void => {
    metrics.rescued(operation)
    log.warn({ operation, id, dueAt }, 'what a run should have done was carried out in its place')
  }

const rescuingOperations = (areas: OpenRuntime['areas']): string[] =>
  Object.values(areas).flatMap(({ deadlines, steps }) => [
    ...deadlines.filter(({ waits }) => waits !== WITHOUT_RUN).flatMap(({ operations }) => operations),
    ...Object.values(steps).map(({ key }) => key),
  ])

export function startWebhookDeliveries(runtime: OpenRuntime, pollMs?: number): Stoppable {
  const { database, execute, listener, operations, ports, settings, log, metrics, watch } = runtime
  // A counter that begins at zero shows its first increase.
  metrics.rescued(webhookSteps.attempt.key, 0)
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'deliveries: the database took or gave nothing')
  const lease = runtime.leases.of('deliveries')
  const deliverer = new WebhookDeliverer({
    database,
    lease,
    ...webhookAttempts(ports.systems, runtime),
    waitsMs: settings.webhookRetrySeconds.map(seconds => seconds * 1_000),
    giveUp: (id, why) => disableWebhook(runtime, id, why),
    onOutbox: runtime.onOutbox,
    onWaiting: () => keeper.wake(),
    onFailure,
    onFirstAttempt: metrics.attempted,
    onRescue: rescueReport(runtime, webhookSteps.attempt.key),
    ...(pollMs === undefined ? {} : { pollMs }),
  })
  const keeper = new BacklogKeeper({ database, execute, operations, onFailure })
  const ignore = listener.on('deliveries', changed => {
    if (changed) deliverer.forget(changed)
    else if (changed === undefined) deliverer.forgetAll()
    deliverer.notice()
  })
  const letGo = lease.keepWhile(() => deliverer.hasClaims)
  const unwatch = watch.add({ dueAt: BACKLOG_DUE_SQL, wake: keeper.wake, onFreed: deliverer.notice })
  return {
    async stop() {
      ignore()
      await Promise.all([unwatch(), keeper.stop()])
      await deliverer.stop()
      letGo()
    },
  }
}

const measured = ({ ports: { systems }, metrics }: OpenRuntime, what: 'push' | 'channel'): Systems => ({
  ...systems,
  outbound: withOutboundMetrics(systems.outbound, metrics, what),
})

export function startWebPush(runtime: OpenRuntime): Stoppable {
  const { database, listener, ports, log, watch } = runtime
  const onFailure = (error: unknown) => log.warn({ err: error }, 'pushes: some were not sent')
  const lease = runtime.leases.of('pushes')
  const pusher = new PushSender({
    database,
    systems: measured(runtime, 'push'),
    settings: ports.settings,
    onFailure,
    lease,
    unsubscribe: gone => deletePushSubscription(runtime, gone),
  })
  const ignore = listener.on('pushes', pusher.wake)
  const letGo = lease.keepWhile(() => pusher.hasClaims)
  const unwatch = watch.add({ dueAt: PUSHES_DUE_SQL, wake: pusher.round, onFreed: pusher.wake })
  return {
    async stop() {
      ignore()
      await unwatch()
      await pusher.stop()
      letGo()
    },
  }
}

/** Sends questions, codes and links to people, by e-mail, Slack and Teams. */
export function startChannelMessages(runtime: OpenRuntime): Stoppable {
  const { database, listener, ports, log, metrics, watch } = runtime
  const lease = runtime.leases.of('channel_messages')
  const sender = new ChannelSender({
    database,
    lease,
    systems: measured(runtime, 'channel'),
    service: ports.service,
    onFailure: error => log.warn({ err: error }, 'messages to people: some were not sent'),
    onMessage: metrics.messaged,
  })
  const ignore = listener.on('channel_messages', sender.wake)
  const letGo = lease.keepWhile(() => sender.hasClaims)
  const unwatch = watch.add({ dueAt: MESSAGES_DUE_SQL, wake: sender.round, onFreed: sender.wake })
  return {
    async stop() {
      ignore()
      await unwatch()
      await sender.stop()
      letGo()
    },
  }
}

/** Milliseconds after an event: well below the two seconds within which an entry is sealed. */
const SEAL_AFTER = 500

/** Seals the audit trails. Several processes may run it; one at a time finds work. */
export function startAuditSealing(runtime: OpenRuntime): Stoppable {
  const parts = { database: runtime.database, signer: runtime.ports.systems.signer }
  const stopping = new AbortController()
  const seal = async (): Promise<void> => {
    while (!stopping.signal.aborted && (await sealNextPage(parts))) {}
  }
  const rounds = followJournal(runtime, { dueAt: SEALING_DUE_SQL, afterMs: SEAL_AFTER, work: seal }, error =>
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
export function startSpendCounting(runtime: OpenRuntime): Stoppable {
  const { database, log } = runtime
  const sql = sqlOn(database.pool)
  let isStopping = false
  const count = async (): Promise<void> => {
    if (await isSpendCountBehind(sql)) await countSpend(database, { isStopping: () => isStopping })
  }
  const rounds = followJournal(
    runtime,
    { dueAt: COUNTING_DUE_SQL, afterMs: COUNT_AFTER, work: count },
    error =>
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
): Stoppable {
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
