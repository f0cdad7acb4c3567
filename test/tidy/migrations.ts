import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { sqlFunctions } from '../../src/migrations/functions.ts'
import { schemaHistory, textChecksum } from '../../src/migrations/index.ts'
import { root } from '../support/tidy/sources.ts'

const DEFINITION = /\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(\w+)/gi
const { migrations, stamps, released } = schemaHistory()
const [lastVersion, { migrations: lastReleased }] = Object.entries(released).at(-1) ?? [
  'none',
  { migrations: {} },
]
const isFolded = stamps.some(({ of }) => of === lastVersion)

describe('the migrations', () => {
  test('stay as they were released', () => {
    const wrong = Object.entries(isFolded ? {} : lastReleased).filter(
      ([name, checksum]) => migrations.find(known => known.name === name)?.checksum !== checksum,
    )
    expect(
      wrong.map(
        ([name]) =>
          `src/migrations/${name} belongs to version ${lastVersion}, and databases have run it: restore it, and put the change into a new migration. (Or fold newer ones into the baseline: see src/migrations/README.md.)`,
      ),
    ).toEqual([])
  })

  test('are listed for the version of package.json, which is a later one once they change', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const current = Object.fromEntries(migrations.map(({ name, checksum }) => [name, checksum]))
    if (version === lastVersion && !isFolded)
      expect({ [version]: current }).toEqual({ [lastVersion]: lastReleased })
    expect(Object.keys(released).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))).toEqual(
      Object.keys(released),
    )
  })

  test('are listed with the commit of each version, which the drill checks out', () => {
    const unnamed = Object.entries(released).filter(([, { commit }]) => !/^[0-9a-f]{40}$/.test(commit))
    expect(unnamed.map(([version]) => version)).toEqual([])
  })

  test('are files of SQL that begin with a comment and have a number of their own', () => {
    const names = readdirSync(join(root, 'src/migrations')).filter(name => /^\d|^m\d/.test(name))
    expect(names.filter(name => !/^\d{4}-[a-z-]+(\.sql)?$/.test(name))).toEqual([])
    expect(new Set(migrations.map(({ name }) => name.slice(0, 4))).size).toBe(migrations.length)
    expect(migrations.filter(({ text }) => !/^-- [A-Z]/.test(text)).map(({ name }) => name)).toEqual([])
  })

  test('define no function, which belongs into src/migrations/functions', () => {
    const defined = migrations.flatMap(({ text, name }) =>
      [...text.matchAll(DEFINITION)].map(([, sql]) => `${name}: ${sql}`),
    )
    expect(defined).toEqual([])
  })

  test('have checksums of what they do, not of what is said beside it', () => {
    const [baseline] = migrations
    expect(baseline?.checksum).not.toBe(textChecksum(baseline?.text ?? ''))
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
