import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { migrationChecksum, sqlOf } from '../../src/migrations/checksums.ts'
import { sqlFunctions } from '../../src/migrations/functions.ts'
import { migrations } from '../../src/migrations/index.ts'
import { root } from '../support/tidy/sources.ts'

const FILE = 'src/migrations/checksums.json'
/** The last migration that defines functions itself: they had no files of their own then. */
const LAST_WITH_FUNCTIONS = 'm0070-relay-leases'
const DEFINITION = /\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(\w+)/gi

const recordedChecksums = (): Record<string, string> => JSON.parse(readFileSync(join(root, FILE), 'utf8'))
const inOrder = migrations.map(item => ({ item, name: item.name, checksum: migrationChecksum(item) }))

describe('the migrations', () => {
  test('are not edited once they have landed', () => {
    const recorded = recordedChecksums()
    const edited = inOrder.filter(({ name, checksum }) => (recorded[name] ?? checksum) !== checksum)
    expect(
      edited.map(
        ({ name }) =>
          `src/migrations/${name}.ts was edited, and databases have run it: restore it, and put the change into a new migration. (Before it lands: delete its line in ${FILE} instead.)`,
      ),
    ).toEqual([])
    const removed = Object.keys(recorded).filter(name => !inOrder.some(migration => migration.name === name))
    expect(
      removed.map(name => `${name} is missing in src/migrations/index.ts: databases have run it.`),
    ).toEqual([])
  })

  test('have committed checksums', () => {
    const recorded = recordedChecksums()
    const added = inOrder.filter(({ name }) => !recorded[name])
    if (added.length > 0) {
      const all = inOrder.map(({ name, checksum }) => [name, recorded[name] ?? checksum])
      writeFileSync(join(root, FILE), `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
    }
    expect(added.map(({ name }) => `${FILE} has now a line for ${name}: commit it.`)).toEqual([])
  })

  test('define no function, which belongs into src/migrations/functions', () => {
    const later = inOrder.filter(({ name }) => name > LAST_WITH_FUNCTIONS)
    const defined = later.flatMap(({ item, name }) =>
      [...sqlOf(item).matchAll(DEFINITION)].map(([, sql]) => `${name}: ${sql}`),
    )
    expect(defined).toEqual([])
  })
})

test('a function’s file begins with a comment and defines that function only', () => {
  const functions = sqlFunctions()
  expect(functions.length).toBeGreaterThan(20)
  const wrong = functions.filter(({ name, text }) => {
    const names = [...text.matchAll(DEFINITION)].map(([, defined]) => defined)
    return (
      !/^-- [A-Z]/.test(text) || names.length !== 1 || names[0] !== name || !/^create or replace/m.test(text)
    )
  })
  expect(wrong.map(({ name }) => `src/migrations/functions/${name}.sql`)).toEqual([])
})
