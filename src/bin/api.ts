import { inCommon } from '../app/required-secrets.ts'
import { openService } from '../app/service.ts'
import { live } from '../platform/lifetime.ts'
import { say } from '../platform/output.ts'
import { environment } from '../platform/settings/environment.ts'

/** One API process of several on one database. It changes no schema: `migrate` does, before. */
live(async life => {
  const settings = environment()
  const waiting = { tell: say, signal: life.ending }
  const service = await openService({
    settings: { ...settings, ...inCommon(settings) },
    waiting,
    shared: true,
  })
  life.closeLater(() => service.stop())
  const port = await service.listen(settings.port, settings.host)
  say(`Listening on ${settings.host} port ${port}`)
})
