import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { readMigrations } from '../../src/migrations/index.ts'
import { picturesOf, tablesOfMigrations } from '../support/schema/data-model.ts'
import { root } from '../support/tidy/sources.ts'

const file = 'docs/reference/data-model.md'
/** The place of a picture, with the current one. */
const PLACE = /<!-- picture: (\w+) -->\n(?:\n```mermaid\n[\s\S]*?\n```\n)?/g

test('the pictures of the tables are those of the migrations', () => {
  const pictures = picturesOf(tablesOfMigrations())
  const before = readFileSync(join(root, file), 'utf8')
  const places = [...before.matchAll(PLACE)].map(([, area]) => area)
  expect(places).toEqual([...pictures.keys()])
  const after = before.replace(
    PLACE,
    (_, area: string) => `<!-- picture: ${area} -->\n\n${pictures.get(area)}\n`,
  )
  if (after !== before) writeFileSync(join(root, file), after)
  expect(after === before ? [] : [`${file} has new pictures: commit it.`]).toEqual([])
})

test('a migration that the pictures cannot be made of is named', () => {
  const text = '-- Area: money. A later step.\nalter table wallets set unlogged;'
  const migrations = [...readMigrations(), { name: '9999-later', text, checksum: '' }]
  expect(() => tablesOfMigrations(migrations)).toThrow('cannot read: alter table wallets set unlogged')
})
