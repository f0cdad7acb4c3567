import { drop, Pusher } from '../delivery/push/push.ts'
import { ProcessLease, RENEW_MS } from '../kernel/process-lease.ts'
import { listen } from '../platform/listener.ts'
import { everySoOften } from '../platform/rounds.ts'
import type { OpenHouse, Part } from './house.ts'
import { observed } from './observed.ts'

const LOOK_EVERY = 30_000

/** Tells browsers of the events that they are to hear of. */
export function startPushes(house: OpenHouse): Part {
  const { database, ports, settings, log } = house
  const onFailure = (error: unknown) => log.warn({ err: error }, 'pushes: some were not sent')
  const observing = { ...ports, outbound: observed(ports.outbound, house.metrics, 'push') }
  const lease = new ProcessLease(database, 'pushes')
  const pusher = new Pusher({ database, lease, ports: observing, drop: gone => drop(house, gone), onFailure })
  const listener = listen(settings.databaseUrl, 'pushes', pusher.wake)
  const renewal = everySoOften(RENEW_MS, async () => (await lease.round()) > 0 && pusher.wake(), onFailure)
  const rounds = everySoOften(LOOK_EVERY, () => pusher.round(), onFailure)
  return {
    async stop() {
      await Promise.all([listener.stop(), rounds.stop()])
      await pusher.stop()
      await renewal.stop()
      await lease.end().catch(onFailure)
    },
  }
}
