import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const MOST = 500

export const completeFileNames =
  (cwd: string) =>
  (start: string): string[] => {
    const folder = start.slice(0, start.lastIndexOf('/') + 1)
    const name = start.slice(folder.length)
    return entriesOf(resolve(cwd, folder === '' ? '.' : folder))
      .filter(entry => entry.name.startsWith(name) && (name !== '' || !entry.name.startsWith('.')))
      .slice(0, MOST)
      .map(entry => join(folder, entry.name) + (entry.isDirectory() ? '/' : ''))
  }

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
