import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textChecksum } from './index.ts'

/** A function of the database, as its file in `functions/` defines it. */
export interface SqlFunction {
  readonly name: string
  readonly text: string
  readonly checksum: string
}

const FOLDER = join(import.meta.dirname, 'functions')

/** All functions, each after those that it calls: PostgreSQL looks at what a body names when it is defined. */
export function sqlFunctions(folder = FOLDER): SqlFunction[] {
  const files = readdirSync(folder).filter(file => file.endsWith('.sql'))
  const functions = files.sort().map(file => read(folder, file))
  const ordered = new Set<SqlFunction>()
  const seen = new Set<SqlFunction>()
  const add = (item: SqlFunction): void => {
    if (seen.has(item)) return
    seen.add(item)
    functions.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(item.text)).forEach(add)
    ordered.add(item)
  }
  functions.forEach(add)
  return [...ordered]
}

function read(folder: string, file: string): SqlFunction {
  const text = readFileSync(join(folder, file), 'utf8')
  return { name: file.slice(0, -'.sql'.length), text, checksum: textChecksum(text) }
}
