import { hash, randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileOwner, Files, StagedFile } from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'
import { agedFiles, dropStaged } from './aged.ts'
import { contextOf, pathOf, STAGED } from './paths.ts'
import { openedFile } from './read.ts'
import { sealFile } from './seal.ts'
import { syncFolder, unless, writeWhole } from './write.ts'

/** Files in a folder that all processes share: below the owner and the mode, by the first digits of their content. */
export function filesOnDisk(folder: string, vault: Vault): Files {
  const stage: Files['stage'] = async (owner, { sha256, bytes }) => {
    const path = pathOf(folder, owner, sha256)
    const parts = await sealFile(bytes, contextOf(owner, sha256), vault)
    const unnamed = join(folder, STAGED, randomUUID())
    await mkdir(join(folder, STAGED), { recursive: true, mode: 0o700 })
    await writeWhole(unnamed, parts)
    return staged(folder, unnamed, path)
  }
  return {
    stage,
    async put(owner, bytes) {
      const sha256 = hash('sha256', bytes, 'hex')
      const file = await stage(owner, { sha256, bytes })
      await file.keep()
      return { sha256, bytes: bytes.length }
    },
    open: (owner, sha256) => openedFile(pathOf(folder, owner, sha256).file, contextOf(owner, sha256), vault),
    async erase(owner, sha256) {
      const { file, parents } = pathOf(folder, owner, sha256)
      await rm(file, { force: true })
      await syncFolder(String(parents.at(-1))).catch(unless('ENOENT'))
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
function staged(folder: string, unnamed: string, { file, parents }: ReturnType<typeof pathOf>): StagedFile {
  let isKept = false
  return {
    async keep() {
      if (isKept) return
      const made = await mkdir(String(parents.at(-1)), { recursive: true, mode: 0o700 })
      await rename(unnamed, file)
      isKept = true
      await syncFolder(String(parents.at(-1)))
      // Folders that are new must survive a loss of power themselves.
      if (made !== undefined) for (const parent of [folder, ...parents.slice(0, -1)]) await syncFolder(parent)
    },
    async drop() {
      if (!isKept) await rm(unnamed, { force: true })
    },
  }
}
