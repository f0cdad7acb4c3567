import { existsSync, readdirSync, realpathSync, rmdirSync } from 'node:fs'
import { removePostgres } from '../platform/embedded-postgres.ts'
import { removeTemporal } from '../platform/temporal-data.ts'
import { claim } from './claim.ts'
import { environment } from './environment.ts'
import { removeInstance } from './instance-file.ts'
import { complain, say } from './say.ts'
import { hasSecrets, removeSecrets } from './secrets.ts'

/** Removes all data of the service, which must not be running. */
async function reset(): Promise<void> {
  const { dataDir: path } = environment()
  if (!existsSync(path)) return say(`There is no data in ${path}.`)
  // A mistyped DATA_DIR is left alone.
  if (!hasSecrets(path)) throw new Error(`${path} holds no data of this service; nothing was removed.`)
  const dataDir = realpathSync(path)
  await claim(dataDir)
  await removePostgres(dataDir)
  await removeTemporal(dataDir)
  removeInstance(dataDir)
  // Last, so that an interrupted removal can be taken up again.
  removeSecrets(dataDir)
  if (readdirSync(dataDir).length === 0) rmdirSync(dataDir)
  say(`Removed the data in ${path}.`)
}

reset().catch(error => {
  complain(error.message)
  process.exitCode = 1
})
