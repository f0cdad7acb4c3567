import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export const unless =
  (code: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error
    return undefined
  }

/** Writes a file that nobody else has, readable by us only, and flushes it. What cannot be written whole is removed. */
export async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await newFile(path)
  try {
    await writeAll(file, parts, 0)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Its folder is there but for the first time. */
export async function newFile(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600).catch(unless('ENOENT'))
  if (file) return file
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  return open(path, 'wx', 0o600)
}

/** In one call: each costs a turn of a thread, which a busy machine gives late. A disk may take less than it was given. */
export async function writeAll(
  file: FileHandle,
  parts: readonly Uint8Array[],
  position: number,
): Promise<void> {
  const { bytesWritten } = await file.writev(parts, position)
  let rest = Buffer.concat(bytesWritten < lengthOf(parts) ? parts : []).subarray(bytesWritten)
  for (let at = position + bytesWritten; rest.length > 0; ) {
    const more = await file.write(rest, 0, rest.length, at)
    at += more.bytesWritten
    rest = rest.subarray(more.bytesWritten)
  }
}

export const lengthOf = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0)

/** The flush of a folder that is under way, and the next one, which has not begun. */
interface FolderFlush {
  readonly current: Promise<void>
  next: Promise<void> | undefined
}

const flushes = new Map<string, FolderFlush>()

/**
 * Flushes the folder: a rename survives a loss of power only then. One that has begun may have missed the rename, so the
 * next one is waited for, together with all who have come meanwhile. If the one before it fails, nobody relies on the next.
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
