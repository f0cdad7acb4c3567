import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The sources of a module and its imports, by path. */
export function loadedWith(entry: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(entry)) return found
  const text = readFileSync(entry, 'utf8')
  found.set(entry, text)
  for (const [, of = ''] of text.matchAll(/(?:from|import) '(\.[^']+)'/g))
    loadedWith(join(entry, '..', of), found)
  return found
}
