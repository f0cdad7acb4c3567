import { accessTo } from '../app/temporal-access.ts'
import { onceReachable } from '../platform/database.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { migrate, needsStamp } from '../platform/schema.ts'
import { environment } from '../platform/settings/environment.ts'
import { type Settings, WrongSetting } from '../platform/settings/settings.ts'

/** Runs before `api`. Concurrent runs take turns. */
runProcess(async life => {
  const settings = environment()
  const { databaseUrl } = settings
  if (!databaseUrl) throw new WrongSetting('Not set: DATABASE_URL.')
  await onceReachable(databaseUrl, { tell: printLine, signal: life.ending }, async () => {
    if (await needsStamp(databaseUrl)) await endRuns(settings)
    await migrate(databaseUrl)
  })
  printLine('The database is up to date.')
  life.end(0)
})

/** Open workflow runs of the previous version cannot continue with the workflows of this one. */
async function endRuns(settings: Settings): Promise<void> {
  if (!settings.temporalAddress)
    throw new WrongSetting(
      'Not set: TEMPORAL_ADDRESS. The data is of the version before: its open runs are ended before it is taken over.',
    )
  const { endPreviousRuns } = await import('../app/previous-runs.ts')
  const ended = await endPreviousRuns(accessTo(settings, settings.temporalAddress))
  printLine(`The data is of the version before: ${ended} open runs are ended. The relay begins them anew.`)
}
