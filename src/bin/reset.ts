import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { claimDataDirectory } from '../dev/data-directory.ts'
import { removeInstance } from '../dev/instance-file.ts'
import { removePostgres } from '../dev/postgres/embedded-postgres.ts'
import { hasLocalSecrets, removeLocalSecrets } from '../dev/secrets.ts'
import { removeTemporal } from '../dev/temporal/data.ts'
import { printError, printLine } from '../platform/output.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'

async function reset(): Promise<void> {
  const { dataDir: path } = readEnvironmentSettings()
  if (!existsSync(path)) return printLine(`There is no data in ${path}.`)
  // DATA_DIR may be mistyped, so a directory without the secrets of the service is never removed.
  if (!hasLocalSecrets(path)) throw new Error(`${path} holds no data of this service; nothing was removed.`)
  const dataDir = realpathSync(path)
  await claimDataDirectory(dataDir)
  await removePostgres(dataDir)
  await removeTemporal(dataDir)
  removeInstance(dataDir)
  rmSync(join(dataDir, 'files'), { recursive: true, force: true })
  // The secrets are removed last, so that an interrupted removal can be repeated.
  removeLocalSecrets(dataDir)
  if (readdirSync(dataDir).length === 0) rmdirSync(dataDir)
  printLine(`Removed the data in ${path}.`)
}

reset().catch(error => {
  printError(error.message)
  process.exitCode = 1
})
