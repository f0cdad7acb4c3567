import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Each change of a contract changes the first. The second decides what of it the table has. */
const SOURCES = ['openapi.json', 'src/derive/commands/command-table.ts']

const writtenAt = path => statSync(path, { throwIfNoEntry: false })?.mtimeMs

/** Whether `commands.json` is there, and as new as what it is written from: three looks at the file system, as each command asks. */
export function hasCommandTable(checkout) {
  const at = writtenAt(join(checkout, 'commands.json'))
  return at !== undefined && SOURCES.every(name => (writtenAt(join(checkout, name)) ?? 0) <= at)
}
