import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import {
  type BaselineStamp,
  checksumOfMigrations,
  type Migration,
  readMigrations,
  type SchemaHistory,
  schemaHistory,
} from '../../../src/migrations/index.ts'
import { printError, printLine } from '../../../src/platform/output.ts'
import { updateSchema } from '../../../src/platform/schema.ts'
import { describeSchema } from './catalog.ts'

const root = join(import.meta.dirname, '../../..')

/**
 * Proves that a baseline into which newer migrations were folded by hand makes the same schema as the last commit does, and
 * writes `stamps.json`, by which databases of that commit and of the last released version are taken over:
 *
 *     node test/support/schema/fold.ts
 */
async function fold(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fold-'))
  const { released } = schemaHistory()
  try {
    const archive = execFileSync('git', ['archive', 'HEAD', 'src/migrations'], { cwd: root })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    const before = readMigrations(join(folder, 'src/migrations'))
    const postgres = await startPostgres({ dataDir: folder, port: 0, durable: false })
    const differences = await differencesOf(postgres.url, before, readMigrations()).finally(postgres.stop)
    if (differences.length > 0) throw new Error(`The schemas differ:\n${differences.join('\n')}`)
    const stamps = stampsOf(before, released)
    writeFileSync(join(root, 'src/migrations/stamps.json'), `${JSON.stringify(stamps, null, 2)}\n`)
    printLine(`The baseline makes the same schema. src/migrations/stamps.json: ${stamps.length}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The lines that only one of the two schemas has, each with its side. */
export async function differencesOf(
  url: string,
  before: readonly Migration[],
  after: readonly Migration[],
): Promise<string[]> {
  const [old, folded] = [await schemaOf(url, 'before', before), await schemaOf(url, 'after', after)]
  return [
    ...old.filter(line => !folded.includes(line)).map(line => `only before: ${line}`),
    ...folded.filter(line => !old.includes(line)).map(line => `only in the baseline: ${line}`),
  ]
}

async function schemaOf(url: string, name: string, migrations: readonly Migration[]): Promise<string[]> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const own = new URL(url)
  own.pathname += `_${name}`
  const database = own.pathname.slice(1)
  const client = new pg.Client({ connectionString: own.href })
  try {
    await admin.query(`create database ${database}`)
    await client.connect()
    await updateSchema(client, { migrations, stamps: [], released: {} })
    return await describeSchema(client)
  } finally {
    await client.end()
    await admin.query(`drop database if exists ${database}`)
    await admin.end()
  }
}

/**
 * Stamps of the last released version, which runs the missing migrations, and of the last commit, which
 * misses none.
 */
export function stampsOf(
  before: readonly Migration[],
  released: SchemaHistory['released'],
): readonly BaselineStamp[] {
  const last = Object.entries(released).at(-1)
  const stampAfter = (count: number): BaselineStamp => ({
    of: last?.[0] ?? 'no version yet',
    applied: checksumOfMigrations(before.slice(0, count)),
    statements: before.slice(count).map(({ text }) => text),
  })
  const count = Object.keys(last?.[1].migrations ?? {}).length
  return count === before.length ? [stampAfter(count)] : [stampAfter(count), stampAfter(before.length)]
}

if (import.meta.main)
  await fold().catch(error => {
    printError(error.message)
    process.exitCode = 1
  })
