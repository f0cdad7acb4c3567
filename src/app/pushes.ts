import { Pusher, unsubscribe } from '../delivery/push/index.ts'
import { listen } from '../platform/listener.ts'
import { everySoOften } from '../platform/rounds.ts'
import { measured } from './database-metrics.ts'
import { renewLease } from './renewed-lease.ts'
import type { OpenRuntime, Part } from './runtime.ts'

const LOOK_EVERY = 30_000

/** Sends web pushes to subscribed browsers. */
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
  const rounds = everySoOften(LOOK_EVERY, () => pusher.round(), onFailure)
  return {
    async stop() {
      await Promise.all([listener.stop(), rounds.stop()])
      await pusher.stop()
      await renewed.end()
    },
  }
}
