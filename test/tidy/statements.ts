import { describe, expect, test } from '@jest/globals'
import {
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateExpression,
  type Node,
} from 'typescript/unstable/ast'
import { tablesOfMigrations } from '../support/schema/data-model.ts'
import { foreignTables } from '../support/tidy/foreign-tables.ts'
import { whyForbidden } from '../support/tidy/import-law.ts'
import { allNodes, readSources, type Source } from '../support/tidy/sources.ts'
import { homeOfTable, tablesInSql } from '../support/tidy/tables.ts'

const isText = (part: Node): boolean =>
  isStringLiteral(part) || isNoSubstitutionTemplateLiteral(part) || isTemplateExpression(part)

/** SQL of `src/values/personal.ts` takes the name of a table. */
const GIVEN_TABLE = /\bisAboutSql\(\s*'(\w+)'/g

function tablesNamedIn({ node, text }: Source): Set<string> {
  const inSql = allNodes(node)
    .filter(isText)
    .flatMap(part => tablesInSql(part.getText(node)))
  return new Set([...inSql, ...[...text.matchAll(GIVEN_TABLE)].map(([, table = '']) => table)])
}

const placeOf = (home: string) => `src/${home}/index.ts`

/** Which tables each file names that do not belong to its own folder. */
const named = readSources()
  .files.filter(({ path }) => /^(src|activities|workflows)\//.test(path))
  .flatMap(source =>
    [...tablesNamedIn(source)]
      .map(table => ({ path: source.path, table, home: String(homeOfTable.get(table)) }))
      .filter(({ path, home }) => !path.startsWith(`src/${home}/`)),
  )

const isUpward = ({ path, home }: (typeof named)[number]): boolean =>
  whyForbidden(path, { of: placeOf(home), typeOnly: false, line: 1 }) !== undefined

const listed = (some: typeof named): string[] => some.map(({ path, table }) => `${path} ${table}`).sort()

describe('a statement', () => {
  test('has a home for each table that it can name', () => {
    const tables = [...tablesOfMigrations().keys()].sort()
    expect([...homeOfTable.keys()].sort()).toEqual(tables)
  })

  test('names no table of a noun that its file must not import', () => {
    expect(listed(named.filter(isUpward))).toEqual([...foreignTables.upward].sort())
  })

  // The noun of the table offers a function in its index in place of each of them.
  test('names a table of another noun only where it always did', () => {
    const downward = named.filter(one => !isUpward(one) && !one.home.startsWith('kernel/'))
    expect(listed(downward)).toEqual([...foreignTables.downward].sort())
  })
})
