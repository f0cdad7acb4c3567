import { hash, randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileOwner, Files, StagedFile } from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'
import { agedFiles, dropStaged } from './aged.ts'
import { contentOf, pathOf, STAGED } from './paths.ts'
import { openedFile } from './read.ts'
import { newSeal, sealFile } from './seal.ts'
import { syncFolder, unless, writeWhole } from './write.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

/** Files in a folder that all processes share: below the owner and the mode. */
export function filesOnDisk(folder: string, vault: Vault): Files {
  const unnamedPath = (): string => join(folder, STAGED, randomUUID())
  const stage: Files['stage'] = async (owner, { sha256, bytes }) => {
    const unnamed = unnamedPath()
    await writeWhole(unnamed, await sealFile(bytes, sha256, newSeal(owner, vault)))
    return staged(folder, unnamed, pathOf(folder, owner, sha256))
  }
  return {
    stage,
    staging({ ownerId, mode }) {
      const owner = { ownerId, mode }
      const unnamed = unnamedPath()
      return {
        sink: { module: THREAD, name: 'writeSealed', args: [unnamed, newSeal(owner, vault)] },
        async named(sha256) {
          return { finish: [], file: staged(folder, unnamed, pathOf(folder, owner, sha256)) }
        },
      }
    },
    async put(owner, bytes) {
      const sha256 = hash('sha256', bytes, 'hex')
      const file = await stage(owner, { sha256, bytes })
      await file.keep()
      return { sha256, bytes: bytes.length }
    },
    open: (owner, sha256) => openedFile(pathOf(folder, owner, sha256).file, contentOf(owner, sha256), vault),
    async erase(owner, sha256) {
      const { file, ofMode } = pathOf(folder, owner, sha256)
      await rm(file, { force: true })
      await syncFolder(ofMode).catch(unless('ENOENT'))
    },
    async keptAt(owner: FileOwner, sha256: string) {
      const found = await stat(pathOf(folder, owner, sha256).file).catch(unless('ENOENT'))
      return found?.mtime
    },
    keptBefore: end => agedFiles(folder, end),
    dropLeftovers: end => dropStaged(folder, end),
  }
}

/** A file that is whole on disk. Its name is good once the folders that lead to it are on disk, too. */
function staged(
  folder: string,
  unnamed: string,
  { file, ofOwner, ofMode }: ReturnType<typeof pathOf>,
): StagedFile {
  let isKept = false
  return {
    async keep() {
      if (isKept) return
      // The folders are there but for the first time.
      const isThere = await rename(unnamed, file).then(() => true, unless('ENOENT'))
      const made = isThere ? undefined : await mkdir(ofMode, { recursive: true, mode: 0o700 })
      if (!isThere) await rename(unnamed, file)
      isKept = true
      await syncFolder(ofMode)
      // Folders that are new must survive a loss of power themselves.
      if (made !== undefined) await Promise.all([syncFolder(folder), syncFolder(ofOwner)])
    },
    async drop() {
      if (!isKept) await rm(unnamed, { force: true })
    },
  }
}
