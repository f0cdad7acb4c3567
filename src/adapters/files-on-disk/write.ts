import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export const ignoreErrorCode =
  (code: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error
    return undefined
  }

/** Writes a new file, readable only by this user, and flushes it. A partly written file is removed. */
export async function writeNewFile(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await createPrivateFile(path)
  try {
    await writeParts(file, parts, 0)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

export async function createPrivateFile(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600).catch(ignoreErrorCode('ENOENT'))
  if (file) return file
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  return open(path, 'wx', 0o600)
}

/** In one call, since each waits for a thread of the pool. A file system may write less than it was given. */
export async function writeParts(
  file: FileHandle,
  parts: readonly Uint8Array[],
  position: number,
): Promise<void> {
  const { bytesWritten } = await file.writev(parts, position)
  let rest = Buffer.concat(bytesWritten < totalLength(parts) ? parts : []).subarray(bytesWritten)
  for (let at = position + bytesWritten; rest.length > 0; ) {
    const more = await file.write(rest, 0, rest.length, at)
    at += more.bytesWritten
    rest = rest.subarray(more.bytesWritten)
  }
}

export const totalLength = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0)

interface FolderFlush {
  readonly current: Promise<void>
  next: Promise<void> | undefined
}

const flushes = new Map<string, FolderFlush>()

/**
 * A rename survives a loss of power only after its folder is flushed. A flush under way may have missed the
 * rename, so callers share the next one. If the flush before it fails, the next one must not be relied on.
 */
export function syncFolder(folder: string): Promise<void> {
  const flush = flushes.get(folder)
  if (!flush) return flushNow(folder)
  flush.next ??= flush.current.then(() => flushNow(folder))
  return flush.next
}

function flushNow(folder: string): Promise<void> {
  const current = flushFolder(folder).then(
    () => {
      if (!flushes.get(folder)?.next) flushes.delete(folder)
    },
    error => {
      flushes.delete(folder)
      throw error
    },
  )
  flushes.set(folder, { current, next: undefined })
  return current
}

async function flushFolder(folder: string): Promise<void> {
  const opened = await open(folder)
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
