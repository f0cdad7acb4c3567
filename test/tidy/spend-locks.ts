import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  isCallExpression,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast'
import { allNodes, readSources, root, type Source } from '../support/tidy/sources.ts'

const { files } = readSources()
const shipped = files.filter(({ path }) => path.startsWith('src/'))

/** The tables that spending locks in one order, with the entities and tables by which code names them. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  agents: ['Agent'],
  counters: [],
  ledger_accounts: ['LedgerAccount'],
  intents: ['Intent', 'intentTable'],
}

const LOCKS = /\bfor (?:no key )?(?:update|share)\b(?: of (\w+))?/

/** The tables of a statement; those of one alias, where only that is locked. */
const tablesIn = (sql: string, alias = ''): string[] =>
  Object.keys(TABLES).filter(table => new RegExp(`\\b(?:from|join)\\s+${table} ?${alias}\\b`).test(sql))

/** The tables of the statements that lock. A lock clause in a text of its own belongs to the others of its file. */
const lockedBySql = (texts: readonly string[]): string[] =>
  texts.flatMap(text => {
    const [clause, alias] = LOCKS.exec(text) ?? []
    if (clause === undefined) return []
    return (/\bfrom\b/.test(text) ? [text] : texts).flatMap(one => tablesIn(one, alias))
  })

/** `records.lock(Agent, id)`, `em.findOne(Agent, where, FOR_UPDATE)`, `lockedRowsById(agentTable)`. */
const lockedByCalls = ({ node }: Source): string[] =>
  allNodes(node)
    .filter(isCallExpression)
    .flatMap(({ expression, arguments: [entity, ...rest] }) => {
      const name = isPropertyAccessExpression(expression) ? expression.name.text : expression.getText(node)
      const isLocking =
        /^lock(?:edRowsById)?$/.test(name) ||
        (/^find/.test(name) &&
          rest.some(argument => /\bFOR_UPDATE(?:_BY_ID)?\b|\block(?:Mode)?\b/.test(argument.getText(node))))
      if (!isLocking || !entity || !isIdentifier(entity)) return []
      return Object.keys(TABLES).filter(table => TABLES[table]?.includes(entity.text))
    })

const SQL_FUNCTIONS = 'src/migrations/functions'

function lockingFiles(): Record<string, string[]> {
  const found = Object.keys(TABLES).map(table => [table, new Set<string>()] as const)
  const ofTable = new Map(found)
  for (const source of shipped)
    for (const table of [
      ...lockedBySql(source.text.match(/`[^`]*`|'[^'\n]*'/g) ?? []),
      ...lockedByCalls(source),
    ])
      ofTable.get(table)?.add(source.path)
  for (const name of readdirSync(join(root, SQL_FUNCTIONS)).filter(name => name.endsWith('.sql')))
    for (const table of lockedBySql(readFileSync(join(root, SQL_FUNCTIONS, name), 'utf8').split(';')))
      ofTable.get(table)?.add(`${SQL_FUNCTIONS}/${name}`)
  return Object.fromEntries(found.map(([table, paths]) => [table, [...paths].sort()]))
}

const importersOf = (name: string): string[] =>
  shipped
    .filter(({ node }) =>
      allNodes(node)
        .filter(isImportDeclaration)
        .some(declaration =>
          allNodes(declaration).some(
            part => isImportSpecifier(part) && (part.propertyName ?? part.name).text === name,
          ),
        ),
    )
    .map(({ path }) => path)
    .filter(path => !path.endsWith('/index.ts'))

const SPEND_LOCKS = 'src/control/intents/spend-locks.ts'

describe('the locks of spending', () => {
  test('are taken by one statement of each table, which are the parts of `SpendLocks`', () => {
    expect(lockingFiles()).toEqual({
      agents: ['src/control/agents/agent.ts', SPEND_LOCKS, 'src/control/policies/spenders.ts'],
      counters: [`${SQL_FUNCTIONS}/counters_lock.sql`, `${SQL_FUNCTIONS}/open_limits.sql`],
      intents: ['src/control/intents/cancel.ts', 'src/control/intents/intent.ts'],
      ledger_accounts: [`${SQL_FUNCTIONS}/ledger_post.sql`, 'src/money/ledger/open-book.ts'],
    })
  })

  test.each([
    ['lockSpendingAgents', [SPEND_LOCKS]],
    ['lockSpendingAgentsOfIntents', [SPEND_LOCKS]],
    ['lockCounters', [SPEND_LOCKS]],
    // The state of receipts is noted under the lock of the intent alone.
    ['lockIntents', ['src/control/intents/payments.ts', SPEND_LOCKS]],
  ])('are put in order by `SpendLocks` only: %s', (name, importers) => {
    expect(importersOf(name)).toEqual(importers)
  })

  test('of accounts alone are taken by the ledger’s neighbours, and by `SpendLocks` for all others', () => {
    const others = importersOf('lockBook').filter(path => !/^src\/money\//.test(path))
    expect(others).toEqual(['src/control/agents/deletion.ts', 'src/control/agents/money.ts', SPEND_LOCKS])
  })
})
