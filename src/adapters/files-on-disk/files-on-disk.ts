import { hash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  DamagedFileError,
  type FileOwner,
  type FileStore,
  type OpenedStoredFile,
  type StagedFile,
  type UnreferencedFileBatch,
} from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'
import {
  AUTH_TAG_BYTES,
  CHUNK_BYTES,
  chunkCount,
  decryptChunk,
  type EncryptedFileHeader,
  encryptFile,
  type FileIdentity,
  fileIdentity,
  MAX_HEADER_BYTES,
  newFileDataKey,
  readFileHeader,
  STAGING_FOLDER,
  storedFilePath,
} from './seal.ts'
import { ignoreErrorCode, syncFolder, writeNewFile } from './write.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

export function filesOnDisk(folder: string, vault: Vault): FileStore {
  const unnamedPath = (): string => join(folder, STAGING_FOLDER, randomUUID())
  const stage: FileStore['stage'] = async (owner, { sha256, bytes }) => {
    const unnamed = unnamedPath()
    await writeNewFile(unnamed, await encryptFile(bytes, sha256, newFileDataKey(owner, vault)))
    return staged(folder, unnamed, storedFilePath(folder, owner, sha256))
  }
  return {
    stage,
    staging({ ownerId, mode }) {
      const owner = { ownerId, mode }
      const unnamed = unnamedPath()
      return {
        sink: { module: THREAD, name: 'writeSealed', args: [unnamed, newFileDataKey(owner, vault)] },
        async named(sha256) {
          return { finish: [], file: staged(folder, unnamed, storedFilePath(folder, owner, sha256)) }
        },
      }
    },
    async put(owner, bytes) {
      const sha256 = hash('sha256', bytes, 'hex')
      const file = await stage(owner, { sha256, bytes })
      await file.keep()
      return { sha256, bytes: bytes.length }
    },
    open: (owner, sha256) =>
      openedFile(storedFilePath(folder, owner, sha256).file, fileIdentity(owner, sha256), vault),
    async erase(owner, sha256) {
      const { file, ofMode } = storedFilePath(folder, owner, sha256)
      await rm(file, { force: true })
      await syncFolder(ofMode).catch(ignoreErrorCode('ENOENT'))
    },
    async keptAt(owner: FileOwner, sha256: string) {
      const found = await stat(storedFilePath(folder, owner, sha256).file).catch(ignoreErrorCode('ENOENT'))
      return found?.mtime
    },
    keptBefore: end => agedFiles(folder, end),
    dropLeftovers: end => dropStaged(folder, end),
  }
}

/** A file that is complete on disk. Its name is durable once the folders that lead to it are flushed, too. */
function staged(
  folder: string,
  unnamed: string,
  { file, ofOwner, ofMode }: ReturnType<typeof storedFilePath>,
): StagedFile {
  let isKept = false
  return {
    async keep() {
      if (isKept) return
      const isThere = await rename(unnamed, file).then(() => true, ignoreErrorCode('ENOENT'))
      const made = isThere ? undefined : await mkdir(ofMode, { recursive: true, mode: 0o700 })
      if (!isThere) await rename(unnamed, file)
      isKept = true
      await syncFolder(ofMode)
      // New folders must survive a loss of power themselves.
      if (made !== undefined) await Promise.all([syncFolder(folder), syncFolder(ofOwner)])
    },
    async drop() {
      if (!isKept) await rm(unnamed, { force: true })
    },
  }
}

async function openedFile(
  path: string,
  context: Required<FileIdentity>,
  vault: Vault,
): Promise<OpenedStoredFile | undefined> {
  const file = await open(path).catch(ignoreErrorCode('ENOENT'))
  if (!file) return undefined
  try {
    const start = await readAt(file, 0, MAX_HEADER_BYTES)
    const head = await readFileHeader(start, context, vault).catch(() => undefined)
    if (!head) throw damaged(path)
    const { size: onDisk } = await file.stat()
    if (onDisk !== head.begin + head.size + chunkCount(head.size) * AUTH_TAG_BYTES) throw damaged(path)
    return { size: head.size, content: pieces(path, head) }
  } finally {
    await file.close()
  }
}

const damaged = (path: string): DamagedFileError =>
  new DamagedFileError(`The file ${path} fails its integrity check. Restore it from a backup.`)

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

async function* pieces(path: string, head: EncryptedFileHeader): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (let index = 0; index < chunkCount(head.size); index++) {
      const position = head.begin + index * (CHUNK_BYTES + AUTH_TAG_BYTES)
      const sealed = await readAt(
        file,
        position,
        Math.min(CHUNK_BYTES, head.size - index * CHUNK_BYTES) + AUTH_TAG_BYTES,
      )
      yield await decryptChunk(head, index, sealed).catch(() => {
        throw damaged(path)
      })
    }
  } finally {
    await file.close()
  }
}

async function* namesIn(...path: string[]): AsyncGenerator<string> {
  const folder = await opendir(join(...path)).catch(ignoreErrorCode('ENOENT'))
  if (folder) for await (const { name } of folder) yield name
}

const AT_ONCE = 500

async function* agedFiles(folder: string, end: Date): AsyncGenerator<UnreferencedFileBatch> {
  for await (const ownerId of namesIn(folder)) {
    if (ownerId === STAGING_FOLDER) continue
    for await (const mode of namesIn(folder, ownerId))
      yield* agedIn([folder, ownerId, mode], { ownerId, mode }, end)
  }
}

async function* agedIn(
  path: string[],
  owner: UnreferencedFileBatch['owner'],
  end: Date,
): AsyncGenerator<UnreferencedFileBatch> {
  let sha256s: string[] = []
  for await (const sha256 of namesIn(...path)) {
    if (await isBefore(join(...path, sha256), end)) sha256s.push(sha256)
    if (sha256s.length < AT_ONCE) continue
    yield { owner, sha256s }
    sha256s = []
  }
  if (sha256s.length > 0) yield { owner, sha256s }
}

async function isBefore(path: string, end: Date): Promise<boolean> {
  const found = await stat(path).catch(ignoreErrorCode('ENOENT'))
  return found !== undefined && found.mtime < end
}

/** An upload that began before this instant is no longer being written. */
async function dropStaged(folder: string, end: Date): Promise<void> {
  for await (const name of namesIn(folder, STAGING_FOLDER)) {
    const path = join(folder, STAGING_FOLDER, name)
    if (await isBefore(path, end)) await rm(path, { force: true })
  }
}
