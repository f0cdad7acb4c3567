import { join } from 'node:path'
import type { FileOwner } from '../../ports/files.ts'

/** Where files lie until they are kept: on the disk of the others, so that a rename gives them their names at once. */
export const STAGED = '.staged'

/** Whose file it is, and its content where that is known. */
export interface FileContext extends FileOwner {
  readonly sha256?: string
}

/** A context takes these alone: more that stands in a tenant is no part of it. */
export const contentOf = ({ ownerId, mode }: FileOwner, sha256: string): Required<FileContext> => ({
  ownerId,
  mode,
  sha256,
})

/** What a key is sealed for, or a head signed. */
export const contextOf = ({ ownerId, mode, sha256 }: FileContext): string =>
  `file:${ownerId}/${mode}${sha256 === undefined ? '' : `/${sha256}`}`

/** The file's name in a bucket, and whether it is one at all. */
export function nameOf({ ownerId, mode }: FileOwner, sha256: string): string {
  if (!/^\w[\w.:@-]{0,127}$/.test(ownerId) || !/^(test|live)$/.test(mode) || !/^[\da-f]{64}$/.test(sha256))
    throw new Error('this names no file')
  return `${ownerId}/${mode}/${sha256}`
}

/** The file's place, and the folders that lead to it. Nothing that came from outside can name another. */
export function pathOf(folder: string, owner: FileOwner, sha256: string) {
  nameOf(owner, sha256)
  const { ownerId, mode } = owner
  const ofOwner = join(folder, ownerId)
  const ofMode = join(ofOwner, mode)
  return { file: join(ofMode, sha256), ofOwner, ofMode }
}
