import { BacklogKeeper, Deliverer, expireDeliveries, giveUp } from '../delivery/webhooks/index.ts'
import { listen } from '../platform/listener.ts'
import { everySoOften } from '../platform/rounds.ts'
import { measured } from './database-metrics.ts'
import { renewLease } from './renewed-lease.ts'
import type { OpenRuntime, Part } from './runtime.ts'

const EXPIRE_EVERY = 600_000

/** Delivers events to webhooks, whether or not Temporal is there. */
export function startDeliveries(runtime: OpenRuntime, pollMs?: number): Part {
  const { database, ports, settings, log } = runtime
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'deliveries: the database took or gave nothing')
  const renewed = renewLease(database, 'deliveries', { wake: () => deliverer.wake(), onFailure })
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
    deliverer.wake()
  })
  const { execute, operations } = runtime
  const keeper = new BacklogKeeper({ database, execute, operations, onFailure })
  const expiry = everySoOften(EXPIRE_EVERY, () => expireDeliveries(database), onFailure)
  return {
    async stop() {
      await Promise.all([listener.stop(), expiry.stop(), keeper.stop()])
      await deliverer.stop()
      await renewed.end()
    },
  }
}
