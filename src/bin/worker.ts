import { startDeadlines } from '../app/deadlines.ts'
import { showFigures } from '../app/metrics-server.ts'
import { inCommon } from '../app/required-secrets.ts'
import { openRuntime } from '../app/runtime.ts'
import { startSepaInbox } from '../app/sepa-inbox.ts'
import { requireTemporal } from '../app/temporal-access.ts'
import { startWork } from '../app/worker-service.ts'
import { live } from '../platform/lifetime.ts'
import { say } from '../platform/output.ts'
import { environment } from '../platform/settings/environment.ts'

/** One worker of several: carries out the durable processes, and ends what is overdue. */
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
  life.closeLater(() => runtime.threads.stop())
  const figures = await showFigures(runtime)
  const parts = [startDeadlines(runtime), startSepaInbox(runtime), startWork(runtime, access)]
  for (const part of [...figures, ...parts]) life.closeLater(() => part.stop())
  say('The worker is running.')
})
