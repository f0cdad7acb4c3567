import { startAuditSealing } from '../../../src/app/background.ts'
import { requiredSecrets } from '../../../src/app/required-secrets.ts'
import { openRuntime } from '../../../src/app/runtime.ts'
import { runProcess } from '../../../src/platform/lifetime.ts'
import { printLine } from '../../../src/platform/output.ts'
import { readEnvironmentSettings } from '../../../src/platform/settings/environment.ts'

runProcess(async life => {
  const settings = readEnvironmentSettings()
  const runtime = await openRuntime({ settings: { ...settings, ...requiredSecrets(settings) }, shared: true })
  life.closeLater(() => runtime.database.close())
  const part = startAuditSealing(runtime)
  life.closeLater(() => part.stop())
  printLine('The sealer is running.')
})
