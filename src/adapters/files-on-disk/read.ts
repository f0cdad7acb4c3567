import { type FileHandle, open } from 'node:fs/promises'
import { DamagedFile, type OpenedFile } from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'
import type { FileContext } from './paths.ts'
import { HEAD_ROOM, type Head, openHead, openPiece } from './seal.ts'
import { PIECE, piecesOf, TAG } from './shape.ts'
import { unless } from './write.ts'

/** Opens a file and reads its head; the pieces are read as somebody asks for them. */
export async function openedFile(
  path: string,
  context: Required<FileContext>,
  vault: Vault,
): Promise<OpenedFile | undefined> {
  const file = await open(path).catch(unless('ENOENT'))
  if (!file) return undefined
  try {
    const start = await readAt(file, 0, HEAD_ROOM)
    const head = await openHead(start, context, vault).catch(() => undefined)
    if (!head) throw damaged(path)
    const { size: onDisk } = await file.stat()
    if (onDisk !== head.begin + head.size + piecesOf(head.size) * TAG) throw damaged(path)
    return { size: head.size, content: pieces(path, head) }
  } finally {
    await file.close()
  }
}

const damaged = (path: string): DamagedFile =>
  new DamagedFile(`The file ${path} is not as it was written. Restore it from a backup.`)

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

async function* pieces(path: string, head: Head): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (let index = 0; index < piecesOf(head.size); index++) {
      const position = head.begin + index * (PIECE + TAG)
      const sealed = await readAt(file, position, Math.min(PIECE, head.size - index * PIECE) + TAG)
      yield await openPiece(head, index, sealed).catch(() => {
        throw damaged(path)
      })
    }
  } finally {
    await file.close()
  }
}
