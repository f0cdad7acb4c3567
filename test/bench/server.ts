import type { ServiceSettings } from '../../src/app/runtime.ts'
import { openService } from '../../src/app/service.ts'
import { areas } from '../../src/areas.ts'
import { runProcess } from '../../src/platform/lifetime.ts'
import { printLine } from '../../src/platform/output.ts'
import { readEnvironmentSettings } from '../../src/platform/settings/environment.ts'
import { sampleArea } from '../support/sample-noun.ts'
import { papersArea } from '../support/uploading-noun.ts'
import { echoArea } from './echo.ts'

/** The real service, with areas that only the bench uses. */
runProcess(async life => {
  const settings = readEnvironmentSettings() as ServiceSettings
  const measured = {
    ...areas,
    echo: echoArea,
    samples: sampleArea(async () => 'confirmed'),
    papers: papersArea,
  }
  const service = await openService({ settings, areas: measured, readsInThread: true })
  life.closeLater(() => service.stop())
  printLine(`Listening on http://127.0.0.1:${await service.listen(0, '127.0.0.1')}`)
})
