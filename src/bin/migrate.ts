import { temporalAccess } from '../app/temporal-access.ts'
import { waitForDatabase } from '../platform/database.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { hasOlderRuns, migrateDatabase } from '../platform/schema.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'
import { InvalidSettingError, type Settings } from '../platform/settings/settings.ts'

/** Runs before `api`. Concurrent runs take turns. */
runProcess(async life => {
  const settings = readEnvironmentSettings()
  const { databaseUrl } = settings
  if (!databaseUrl) throw new InvalidSettingError('Not set: DATABASE_URL.')
  await waitForDatabase(databaseUrl, { tell: printLine, signal: life.ending }, async () => {
    if (await hasOlderRuns(databaseUrl)) await endRuns(settings)
    await migrateDatabase(databaseUrl)
  })
  printLine('The database is up to date.')
  life.end(0)
})

/** Open workflow runs of the previous version cannot continue with the workflows of this one. */
async function endRuns(settings: Settings): Promise<void> {
  if (!settings.temporalAddress)
    throw new InvalidSettingError(
      'Not set: TEMPORAL_ADDRESS. The data is of the version before: its open runs are ended before it is taken over.',
    )
  const { endPreviousRuns } = await import('../app/previous-runs.ts')
  await endPreviousRuns(temporalAccess(settings, settings.temporalAddress), printLine)
}
