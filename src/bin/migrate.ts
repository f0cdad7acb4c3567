import { onceReachable } from '../platform/database.ts'
import { live } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { migrate } from '../platform/schema.ts'
import { environment } from '../platform/settings/environment.ts'
import { WrongSetting } from '../platform/settings/settings.ts'

/** Brings the schema up to date and ends. Run it before `api`; several at once take turns. */
live(async life => {
  const { databaseUrl } = environment()
  if (!databaseUrl) throw new WrongSetting('Not set: DATABASE_URL.')
  await onceReachable(databaseUrl, { tell: printLine, signal: life.ending }, () => migrate(databaseUrl))
  printLine('The database is up to date.')
  life.end(0)
})
