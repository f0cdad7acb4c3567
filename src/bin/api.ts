import { requiredSecrets } from '../app/required-secrets.ts'
import { openService } from '../app/service.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'

/** Several API processes may share a database. `migrate` must have prepared it. */
runProcess(async life => {
  const settings = readEnvironmentSettings()
  const waiting = { tell: printLine, signal: life.ending }
  const service = await openService({
    settings: { ...settings, ...requiredSecrets(settings) },
    waiting,
    shared: true,
    readsInThread: true,
  })
  life.closeLater(() => service.stop())
  const port = await service.listen(settings.port, settings.host)
  printLine(`Listening on ${settings.host} port ${port}`)
})
