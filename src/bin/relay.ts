import { startDeliveries } from '../app/deliveries.ts'
import { showFigures } from '../app/metrics-server.ts'
import { startPushes } from '../app/pushes.ts'
import { startRelay } from '../app/relay-service.ts'
import { inCommon } from '../app/required-secrets.ts'
import { openRuntime } from '../app/runtime.ts'
import { requireTemporal } from '../app/temporal-access.ts'
import { live } from '../platform/lifetime.ts'
import { say } from '../platform/output.ts'
import { environment } from '../platform/settings/environment.ts'

/** One relay of several: brings the outbox to Temporal, and events to those who have subscribed to them. */
live(async life => {
  const settings = environment()
  const access = requireTemporal(settings)
  const waiting = { tell: say, signal: life.ending }
  const runtime = await openRuntime({
    settings: { ...settings, ...inCommon(settings) },
    waiting,
    shared: true,
  })
  life.closeLater(() => runtime.database.close())
  const figures = await showFigures(runtime)
  const parts = [startRelay(runtime, access), startDeliveries(runtime), startPushes(runtime)]
  for (const part of [...figures, ...parts]) life.closeLater(() => part.stop())
  say('The relay is running.')
})
