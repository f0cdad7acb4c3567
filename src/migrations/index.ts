import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A step of the schema: a file `0002-name.sql`, or the files of a folder in the order of their names. */
export interface Migration {
  readonly name: string
  readonly text: string
  readonly checksum: string
}

/** A migration as a database has run it. */
export type AppliedMigration = Pick<Migration, 'name' | 'checksum'>

/** What takes a database from the migrations that were folded into the baseline to the baseline. */
export interface BaselineStamp {
  /** The version that has made such a database. */
  readonly of: string
  /** `checksumOfMigrations` of what the database has run. */
  readonly applied: string
  /** What is left to do in it. */
  readonly statements: readonly string[]
}

/** A version as it was released: its last commit, and the checksums of its migrations by their names. */
export interface ReleasedVersion {
  readonly commit: string
  readonly migrations: Readonly<Record<string, string>>
}

export const textChecksum = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Says exactly which migrations a database has run, and in which text. */
export const checksumOfMigrations = (applied: readonly AppliedMigration[]): string =>
  textChecksum(applied.map(({ name, checksum }) => `${name} ${checksum}\n`).join(''))

const FOLDER = import.meta.dirname

/** In the order in which they run. */
export function readMigrations(folder = FOLDER): Migration[] {
  const found = readdirSync(folder).filter(name => /^\d{4}-[\w-]+(\.sql)?$/.test(name))
  return found.sort().map(name => {
    const text = textOf(join(folder, name))
    return { name: name.replace('.sql', ''), text, checksum: textChecksum(withoutComments(text)) }
  })
}

function textOf(path: string): string {
  if (path.endsWith('.sql')) return readFileSync(path, 'utf8')
  const files = readdirSync(path).filter(file => file.endsWith('.sql'))
  return files
    .sort()
    .map(file => readFileSync(join(path, file), 'utf8'))
    .join('\n')
}

/** What is said beside the SQL may be mended at any time. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('--'))
    .join('\n')

const read = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))

/** All that is known of the schema's history. */
export interface SchemaHistory {
  /** In the order in which they run; the first one is the baseline. */
  readonly migrations: readonly Migration[]
  readonly stamps: readonly BaselineStamp[]
  /** By version, the newest last. */
  readonly released: Readonly<Record<string, ReleasedVersion>>
}

export const schemaHistory = (): SchemaHistory => ({
  migrations: readMigrations(),
  stamps: read('stamps.json'),
  released: read('released.json'),
})
