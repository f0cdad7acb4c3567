import { renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildCommandTable, serializeCommandTable } from '../../derive/commands/command-table.ts'
import type { Areas } from '../../kernel/contract/area.ts'

const file = fileURLToPath(new URL('../../../commands.json', import.meta.url))

/** Writes the table of the command and the packages in one step, as others may read it. Returns how many commands it has. */
export function writeCommandTable(areas: Areas): number {
  const table = buildCommandTable(areas)
  const partial = `${file}.${process.pid}`
  writeFileSync(partial, serializeCommandTable(table))
  renameSync(partial, file)
  return Object.keys(table.operations).length
}
