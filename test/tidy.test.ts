import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isNewExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { isFunction, nestingOf } from './support/tidy/functions.ts'
import { allNodes, lineOf, linesOf, readSources, root, type Source } from './support/tidy/sources.ts'
import './tidy/cents.ts'
import './tidy/changed-tests.ts'
import './tidy/contexts.ts'
import './tidy/folders.ts'
import './tidy/imports.ts'
import './tidy/loaded-packages.ts'
import './tidy/data-model.ts'
import './tidy/dependencies.ts'
import './tidy/migrations.ts'
import './tidy/named-in-docs.ts'
import './tidy/options.ts'
import './tidy/parts.ts'
import './tidy/run-by-name.ts'
import './tidy/spend-locks.ts'
import './tidy/statements.ts'
import './tidy/words.ts'

const { files, project } = readSources()
const shipped = files.filter(({ path }) => !path.startsWith('test/'))
const areaFiles = shipped.filter(
  ({ path }) =>
    /^(activities|workflows)\//.test(path) ||
    !/^src\/(values|ports|iso20022|mpp|statements|kernel|web|derive|packages|adapters|platform|dev|app|bin|migrations)\//.test(
      path,
    ),
)

const at = ({ path, node }: Source, part: Node): string => `${path}:${lineOf(node, part)}`

/** Every match in these files. */
const places = (among: readonly Source[], matches: (part: Node, source: Source) => boolean): string[] =>
  among.flatMap(source =>
    allNodes(source.node)
      .filter(part => matches(part, source))
      .map(part => at(source, part)),
  )

describe('the size', () => {
  // A migration is SQL, as long as its tables are many.
  const code = shipped.filter(({ path }) => !path.startsWith('src/migrations/'))
  const functions = code.flatMap(source =>
    allNodes(source.node)
      .filter(isFunction)
      .map(part => ({ at: at(source, part), lines: linesOf(source.node, part), nesting: nestingOf(part) })),
  )

  test('of functions stays within 70 lines', () => {
    expect(functions.filter(({ lines }) => lines > 70)).toEqual([])
  })

  test('of nesting stays within three levels', () => {
    expect(functions.filter(({ nesting }) => nesting > 3)).toEqual([])
  })
})

const accesses = (part: Node, name: string): boolean =>
  (isPropertyAccessExpression(part) && part.name.text === name) ||
  (isElementAccessExpression(part) &&
    isStringLiteral(part.argumentExpression) &&
    part.argumentExpression.text === name)

const isAssignment = (part: Node): boolean =>
  isBinaryExpression(part) &&
  part.operatorToken.kind >= SyntaxKind.FirstAssignment &&
  part.operatorToken.kind <= SyntaxKind.LastAssignment

const MERGES = /^(Object|records|\w+\.records)\.(assign|nativeUpdate|upsert|upsertMany)$/

const { checker } = project

/** Whether this value can carry a status into a record. */
function carriesStatus(part: Node): boolean {
  if (isArrayLiteralExpression(part)) return part.elements.some(carriesStatus)
  const type = checker.getTypeAtLocation(part)
  return type !== undefined && checker.getPropertyOfType(type, 'status') !== undefined
}

function writesStatus(part: Node): boolean {
  if (isBinaryExpression(part) && isAssignment(part)) return accesses(part.left, 'status')
  if (!isCallExpression(part) || !MERGES.test(part.expression.getText())) return false
  return part.arguments.slice(1).some(carriesStatus)
}

describe('the source', () => {
  test('writes a status only through its state machine', () => {
    expect(places(areaFiles, writesStatus)).toEqual([])
    const sql = areaFiles.filter(({ text }) => /\bupdate\b[^;`]*\bset\b[^;`]*\bstatus\s*=/i.test(text))
    expect(sql.map(({ path }) => path)).toEqual([])
  })

  test('does not bypass the tenant filter', () => {
    const bypass =
      /\b(createQueryBuilder|getKysely|getConnection|getNativeClient)\b|\bfilters: (false|\{ ?tenant)/
    expect(areaFiles.filter(({ text }) => bypass.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('writes for another owner only where money goes from one to another', () => {
    const callers = areaFiles.filter(({ text }) => /\brunForOwner\(/.test(text)).map(({ path }) => path)
    expect(callers).toEqual([
      'src/commerce/collect/payment-tokens/charge.ts',
      'src/money/incoming/hand-over.ts',
    ])
  })

  test('reads the time only from the clock', () => {
    // In a workflow Temporal gives the time, the same one in each replay.
    const elsewhere = shipped.filter(
      ({ path }) => path !== 'src/values/system-clock.ts' && !path.startsWith('workflows/'),
    )
    expect(places(elsewhere, readsClock)).toEqual([])
    const business = elsewhere.filter(({ path }) => !/^src\/(bin|app|dev|platform)\//.test(path))
    expect(places(business, part => isIdentifier(part) && part.text === 'performance')).toEqual([])
    expect(places(business, startsTimer)).toEqual([])
  })

  test('writes nothing to the console', () => {
    expect(
      places(files, part => isPropertyAccessExpression(part) && part.expression.getText() === 'console'),
    ).toEqual([])
  })

  test('uses any in one file only', () => {
    const anyPlaces = places(shipped, part => part.kind === SyntaxKind.AnyKeyword)
    expect([...new Set(anyPlaces.map(place => place.replace(/:\d+$/, '')))]).toEqual([
      'src/kernel/contract/operation.ts',
    ])
  })
})

function readsClock(part: Node): boolean {
  if (isPropertyAccessExpression(part)) return /^(Date\.now|process\.hrtime)$/.test(part.getText())
  if (isCallExpression(part)) return part.expression.getText() === 'Date'
  return isNewExpression(part) && part.expression.getText() === 'Date' && (part.arguments ?? []).length === 0
}

const startsTimer = (part: Node): boolean =>
  isCallExpression(part) && /^(setTimeout|setInterval)$/.test(part.expression.getText())

describe('the repository', () => {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const texts = tracked
    .split('\n')
    .filter(path => /\.(ts|js|mjs|md|json|yml|sql|css|html)$|(^|\/)\.[\w.]+$|^\.ci\//.test(path))
    .filter(path => path !== 'package-lock.json' && path !== 'test/tidy.test.ts')
    .map(path => ({ path, text: readIfThere(join(root, path)) }))

  test('has no TODO, FIXME, XXX or HACK', () => {
    expect(
      texts.filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text)).map(({ path }) => path),
    ).toEqual([])
  })

  test('asks for platform and architecture in one file only', () => {
    const pattern = /\bprocess\.(platform|arch)\b/
    const places = texts.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
    expect(places).toEqual(['src/dev/host.mjs', 'test/dev/host.test.ts'])
  })

  test('contains no path of somebody’s machine', () => {
    const paths = /(^|[\s'"`(=])\/(work|farm|home|Users|root)\/\w/m
    expect(texts.filter(({ text }) => paths.test(text)).map(({ path }) => path)).toEqual([])
  })
})

/** A file that git still lists may just have been removed. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
