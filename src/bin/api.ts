import { type Settings, WrongSetting } from '../platform/settings.ts'
import { environment } from './environment.ts'
import { live } from './lifetime.ts'
import { say } from './say.ts'
import { openService } from './service.ts'

/** One API process of several on one database. It changes no schema: `migrate` does, before. */
live(async life => {
  const settings = environment()
  const service = await openService({ settings: { ...settings, ...inCommon(settings) }, shared: true })
  life.closeLater(() => service.stop())
  const port = await service.listen(settings.port, settings.host)
  say(`Listening on ${settings.host} port ${port}`)
})

/** What one process could make up for itself, several must be given. */
function inCommon({ databaseUrl, dashboardSecret, secretKey }: Settings) {
  if (databaseUrl && dashboardSecret && secretKey) return { databaseUrl, dashboardSecret, secretKey }
  const wanted = { DATABASE_URL: databaseUrl, DASHBOARD_SECRET: dashboardSecret, SECRET_KEY: secretKey }
  const missing = Object.entries(wanted).flatMap(([name, value]) => (value ? [] : [name]))
  throw new WrongSetting(`Not set: ${missing.join(', ')}. Give every process the same.`)
}
