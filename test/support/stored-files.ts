import { readdirSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The paths at which a content lies in a folder of files. */
export const lyingIn = (folder: string, sha256: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && basename(entry.name) === sha256)
    .map(({ parentPath, name }) => join(parentPath, name))

/** As if they had been written hours ago. */
export function makeOld(paths: readonly string[]): void {
  const longAgo = new Date('2020-01-01')
  for (const path of paths) utimesSync(path, longAgo, longAgo)
}
