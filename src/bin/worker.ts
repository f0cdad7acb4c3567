import { startDeadlineSweep } from '../app/background.ts'
import { serveMetrics } from '../app/metrics-server.ts'
import { requiredSecrets } from '../app/required-secrets.ts'
import { openRuntime } from '../app/runtime.ts'
import { startSepaInbox } from '../app/sepa-inbox.ts'
import { requireTemporal } from '../app/temporal-access.ts'
import { startTemporalWorker } from '../app/worker-service.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'

/** Runs workflows and expires overdue records. Several workers may run. */
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
  life.closeLater(() => runtime.threads.stop())
  const figures = await serveMetrics(runtime)
  const parts = [startDeadlineSweep(runtime), startSepaInbox(runtime), startTemporalWorker(runtime, access)]
  for (const part of [...figures, ...parts]) life.closeLater(() => part.stop())
  printLine('The worker is running.')
})
