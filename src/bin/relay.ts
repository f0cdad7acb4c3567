import {
  startAuditSealing,
  startChannelMessages,
  startSpendCounting,
  startWebhookDeliveries,
  startWebPush,
} from '../app/background.ts'
import { serveMetrics } from '../app/metrics-server.ts'
import { startOutboxRelay } from '../app/relay-service.ts'
import { requiredSecrets } from '../app/required-secrets.ts'
import { openRuntime } from '../app/runtime.ts'
import { requireTemporal } from '../app/temporal-access.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'

/** Brings the outbox to Temporal and delivers events. Several relays may run. */
runProcess(async life => {
  const settings = readEnvironmentSettings()
  const access = requireTemporal(settings)
  const waiting = { tell: printLine, signal: life.ending }
  const runtime = await openRuntime({
    settings: { ...settings, ...requiredSecrets(settings) },
    waiting,
    shared: true,
  })
  life.closeLater(() => runtime.database.close())
  const figures = await serveMetrics(runtime)
  const parts = [
    startOutboxRelay(runtime, access),
    startWebhookDeliveries(runtime),
    startWebPush(runtime),
    startChannelMessages(runtime),
    startAuditSealing(runtime),
    startSpendCounting(runtime),
  ]
  for (const part of [...figures, ...parts]) life.closeLater(() => part.stop())
  printLine('The relay is running.')
})
