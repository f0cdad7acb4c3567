import { opendir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgedFiles } from '../../ports/files.ts'
import { STAGED } from './paths.ts'
import { unless } from './write.ts'

/** The names in a folder, read as they are asked for; none where another process has just removed it. */
async function* namesIn(...path: string[]): AsyncGenerator<string> {
  const folder = await opendir(join(...path)).catch(unless('ENOENT'))
  if (folder) for await (const { name } of folder) yield name
}

const AT_ONCE = 500

/** All files that were kept before this instant, folder by folder. */
export async function* agedFiles(folder: string, end: Date): AsyncGenerator<AgedFiles> {
  for await (const ownerId of namesIn(folder)) {
    if (ownerId === STAGED) continue
    for await (const mode of namesIn(folder, ownerId))
      yield* agedIn([folder, ownerId, mode], { ownerId, mode }, end)
  }
}

async function* agedIn(path: string[], owner: AgedFiles['owner'], end: Date): AsyncGenerator<AgedFiles> {
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
  const found = await stat(path).catch(unless('ENOENT'))
  return found !== undefined && found.mtime < end
}

/** Removes what was begun before this instant: nobody is still writing it. */
export async function dropStaged(folder: string, end: Date): Promise<void> {
  for await (const name of namesIn(folder, STAGED)) {
    const path = join(folder, STAGED, name)
    if (await isBefore(path, end)) await rm(path, { force: true })
  }
}
