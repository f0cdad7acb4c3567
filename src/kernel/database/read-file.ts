import { hash } from 'node:crypto'
import { DamagedFile, type FileOwner, type Files } from '../../ports/files.ts'
import type { Failure } from '../contract/operation.ts'

/** Why a file that a record names is not given out. */
export const fileRefusals = {
  file_corrupt: [
    503,
    'The file is not what was received, so none of it is given out. Whoever runs this installation has been alarmed: it can be restored from a backup.',
  ],
  file_away: [503, 'The store of files does not have it or does not answer just now. Try again in a while.'],
} as const satisfies Record<string, Failure>

/**
 * The whole content of a file of a few MiB, once it has been found to be what was kept, to the last byte; else the code of
 * the refusal.
 */
export async function readFile(
  files: Files,
  owner: FileOwner,
  sha256: string,
): Promise<Uint8Array | keyof typeof fileRefusals> {
  try {
    const opened = await files.open(owner, sha256)
    if (!opened) return 'file_away'
    const pieces: Uint8Array[] = []
    for await (const piece of opened.content) pieces.push(piece)
    const content = Buffer.concat(pieces)
    return hash('sha256', content, 'hex') === sha256 ? content : 'file_corrupt'
  } catch (error) {
    return error instanceof DamagedFile ? 'file_corrupt' : 'file_away'
  }
}
