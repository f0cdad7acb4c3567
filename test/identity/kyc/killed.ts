import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { filesOnDisk } from '../../../src/adapters/files-on-disk/files-on-disk.ts'
import { sweepFiles } from '../../../src/kernel/background/sweep-files.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { aDocument } from '../../support/identity/kyc.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { type KillableApi, killableApi } from '../../support/processes/killable-api.ts'
import { SECRETS } from '../../support/processes/processes.ts'
import { makeOld } from '../../support/stored-files.ts'

/** An API process with its own files folder. */
async function anApi() {
  const filesDir = join(temporaryFolder(), 'files')
  mkdirSync(filesDir)
  const api = await killableApi({ FILES_DIR: filesDir })
  const lying = () =>
    readdirSync(filesDir, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
  const rows = async () => {
    const [row] = await api.sql<{ documents: number; files: number; events: number }>(
      `select (select count(*) from kyc_documents)::int as documents, (select count(*) from stored_files)::int as files,
         (select count(*) from events where event like 'kyc.%')::int as events`,
    )
    return row
  }
  return { api, filesDir, lying, rows }
}

/** The sweep, as it runs hours later. */
async function sweepLater({ databaseUrl }: KillableApi, filesDir: string, lying: readonly string[]) {
  makeOld(lying)
  const database = openDatabase(databaseUrl, 2)
  const files = filesOnDisk(filesDir, openVault(SECRETS.ENCRYPTION_KEY))
  await sweepFiles(database, files).finally(() => database.close())
}

const isUnnamed = (path: string): boolean => path.includes('.staged')
const isNamed = (path: string): boolean => /^[0-9a-f]{64}$/.test(basename(path))

describe('an API that is killed by SIGKILL while it keeps a document', () => {
  test.each([
    // Each is stopped by a lock: other documents are counted first, then the file gets its name, and the
    // events come last.
    ['that is on disk without a name', 'lock table kyc_documents in access exclusive mode', isUnnamed],
    ['that has its name and no row yet', 'lock table events in exclusive mode', isNamed],
  ])('%s leaves no row; the file is swept, and the document can be sent again', async (_, lock, isThere) => {
    const { api, filesDir, lying, rows } = await anApi()
    const client = api.client(await api.owner())
    const letGo = await api.hold(lock, [])
    await api.killDuring(
      () => aDocument(client),
      async () => (await api.isWaiting()) && lying().some(isThere),
    )
    await api.endWaiting()
    await letGo()
    expect(lying().map(isThere)).toEqual([true])
    expect(await rows()).toEqual({ documents: 0, files: 0, events: 0 })
    await sweepLater(api, filesDir, lying())
    expect(lying()).toEqual([])
    await aDocument(client)
    await sweepLater(api, filesDir, lying())
    expect(lying().map(isNamed)).toEqual([true])
    expect(await rows()).toEqual({ documents: 1, files: 1, events: 1 })
    await api.stop()
  })
})
